// What cppjieba makes of texts: its words, or its heaviest keywords with their weights.
//
// Arguments: the folder of its files, and its user dictionary, or an empty string for none. Each line of the input has a number and the
// path of a text; -1 asks for words, -2 for words without guesses, and another number for so many keywords. Answers end with \x1e and a
// line break; words have \x1f between them, and a keyword's weight follows after a tab.

#define LOGGER_LEVEL LL_FATAL

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cppjieba/KeywordExtractor.hpp"

int main(int, char** arguments) {
  const std::string files = std::string(arguments[1]) + "/", user = arguments[2];
  const std::string dictionary = files + "jieba.dict.utf8", model = files + "hmm_model.utf8";
  cppjieba::MixSegment segment(dictionary, model, user);
  cppjieba::KeywordExtractor extractor(dictionary, model, files + "idf.utf8", files + "stop_words.utf8", user);
  long many;
  for (std::string path; std::cin >> many && std::getline(std::cin >> std::ws, path);) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const char* between = "";
    if (many < 0) {
      std::vector<std::string> words;
      segment.Cut(text, words, many == -1);
      for (const auto& word : words) {
        std::printf("%s%s", between, word.c_str());
        between = "\x1f";
      }
    } else {
      std::vector<std::pair<std::string, double>> keywords;
      extractor.Extract(text, keywords, many);
      for (const auto& [word, weight] : keywords) {
        std::printf("%s%s\t%.17g", between, word.c_str(), weight);
        between = "\x1f";
      }
    }
    std::puts("\x1e");
  }
}

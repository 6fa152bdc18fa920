// Decide a document: node check_and_add.mjs URL ID TEXT

const [url, id, text] = process.argv.slice(2);
const headers = { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
if (process.env.NEARDUP_TOKEN) headers.Authorization = `Bearer ${process.env.NEARDUP_TOKEN}`;

async function decided(attempts = 5) {
  for (let attempt = 1; ; attempt++) {
    let response; // the key stays the same, so a request whose answer was lost is not decided twice
    try {
      response = await fetch(`${url}/v1/stores/default/check-and-add`, {
        method: "POST", headers, body: JSON.stringify({ id, text }),
      });
    } catch (problem) {
      if (attempt === attempts) throw problem;
    }
    if (response?.ok) return response.json();
    if (response && (![408, 429, 502, 503, 504].includes(response.status) || attempt === attempts)) {
      throw new Error((await response.json()).detail);
    }
    await new Promise((done) => setTimeout(done, 1000 * Number(response?.headers.get("retry-after") ?? attempt)));
  }
}

const answer = await decided();
console.log(answer.is_new ? "new" : `like ${answer.duplicate_of}: ${answer.similarity}`);

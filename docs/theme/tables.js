// Who uses a keyboard can scroll a table, or an output of a notebook, that is wider than the page.
addEventListener("load", () => {
  const update = () => document.querySelectorAll(".md-typeset__scrollwrap, .cell").forEach((each) => {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0
    else each.removeAttribute("tabindex")
  })
  update()
  addEventListener("resize", update)
})

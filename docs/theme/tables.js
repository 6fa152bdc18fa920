// Who uses a keyboard can scroll a table that is wider than the page.
addEventListener("load", () => {
  const update = () => document.querySelectorAll(".md-typeset__scrollwrap").forEach((each) => {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0
    else each.removeAttribute("tabindex")
  })
  update()
  addEventListener("resize", update)
})

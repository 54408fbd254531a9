// Shows new mails without a reload.
const current = () => document.querySelector('#mails')
setInterval(async () => {
  const answer = await fetch(location.href).catch(() => null)
  if (!answer?.ok) return
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#mails')
  const ids = (list) => [...list.children].map(({ id }) => id).join()
  if (next && ids(next) !== ids(current())) current().replaceWith(document.adoptNode(next))
}, 2_000)

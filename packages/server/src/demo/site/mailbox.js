// Shows new mails without a reload.
const current = () => document.querySelector('#mails')
setInterval(async () => {
  const response = await fetch(location.href).catch(() => null)
  if (!response?.ok) return
  const next = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('#mails')
  const ids = (list) => [...list.children].map(({ id }) => id).join()
  if (next && ids(next) !== ids(current())) current().replaceWith(document.adoptNode(next))
}, 2_000)

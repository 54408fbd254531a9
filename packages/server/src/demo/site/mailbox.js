// Shows new mails without a reload, and keeps an answer that somebody is writing.
const current = () => document.querySelector('#mails')
setInterval(async () => {
  const response = await fetch(location.href).catch(() => null)
  if (!response?.ok) return
  const next = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('#mails')
  for (const mail of [...(next?.children ?? [])].reverse()) {
    if (document.getElementById(mail.id)) continue
    document.querySelector('#empty')?.remove()
    current().prepend(document.adoptNode(mail))
  }
}, 2_000)

addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const id = form.closest('article').id.replace('mail-', '')
  const status = form.querySelector('[role=status]')
  status.textContent = 'Sending…'
  const response = await fetch(`mailbox/${id}/reply`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: form.elements.text.value }),
  }).catch(() => null)
  status.textContent = response?.ok ? 'Answered: see the conversation of the contact.' : 'It was not sent. Try again.'
  if (response?.ok) form.reset()
})

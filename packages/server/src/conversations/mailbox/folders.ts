import type { ImapFlow, ListResponse } from 'imapflow'
import type { FolderRole } from './parse-mail.ts'

const SENT_NAMES = [
  'sent',
  'sent items',
  'sent mail',
  'sent messages',
  'gesendet',
  'gesendete elemente',
  'gesendete objekte',
  'envoyés',
  'éléments envoyés',
  'messages envoyés',
  'enviados',
  'elementos enviados',
  'itens enviados',
  'posta inviata',
  'inviati',
  'verzonden',
  'verzonden items',
  'skickat',
  'sendt',
  'wysłane',
  'отправленные',
  '已发送',
  '送信済み',
]

/** The folders to read: INBOX, and the Sent folder if there is one. */
export async function findFolders(client: ImapFlow): Promise<{ role: FolderRole; path: string }[]> {
  const folders = (await client.list()).filter(({ flags }) => !flags.has('\\Noselect') && !flags.has('\\NonExistent'))
  const sent = sentFolder(folders)
  // The Sent folder is read first, because a bounce counts only for a known mail.
  return [...(sent ? [{ role: 'sent', path: sent.path } as const] : []), { role: 'inbox', path: 'INBOX' }]
}

function sentFolder(folders: readonly ListResponse[]): ListResponse | undefined {
  const marked = folders.find(
    ({ specialUse, specialUseSource }) => specialUse === '\\Sent' && specialUseSource !== 'name',
  )
  if (marked) return marked
  const candidates = folders.filter(({ name }) => SENT_NAMES.includes(name.toLowerCase()))
  return candidates.sort(
    (a, b) => SENT_NAMES.indexOf(a.name.toLowerCase()) - SENT_NAMES.indexOf(b.name.toLowerCase()),
  )[0]
}

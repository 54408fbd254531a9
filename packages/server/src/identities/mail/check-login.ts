import type { ErrorDetail } from '../../platform/errors.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { MailServer } from '../email-account.ts'
import { serverError } from './server-error.ts'
import { openImap, openSmtp } from './servers.ts'

/**
 * Logs in at both servers and logs out again.
 * @returns the reply of each server that rejected the login; empty if both accepted it.
 */
export async function checkLogin(
  connector: Connector,
  { smtp, imap }: { smtp: MailServer; imap: MailServer | null },
): Promise<ErrorDetail[]> {
  const attempts = [
    attempt('smtp', smtp, async () => {
      const connection = await openSmtp(connector, smtp)
      connection.quit()
    }),
    ...(imap === null
      ? []
      : [
          attempt('imap', imap, async () => {
            const client = await openImap(connector, imap)
            await client.logout().catch(() => client.close())
          }),
        ]),
  ]
  return (await Promise.all(attempts)).flat()
}

async function attempt(path: string, { login }: MailServer, work: () => Promise<void>): Promise<ErrorDetail[]> {
  try {
    await work()
    return []
  } catch (error) {
    return [{ path, message: serverError(error, login).text }]
  }
}

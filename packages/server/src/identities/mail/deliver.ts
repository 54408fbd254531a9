import { Readable } from 'node:stream'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { EmailAccount } from '../email-account.ts'
import { type ServerError, serverError } from './server-error.ts'
import { openSmtp } from './servers.ts'

/** The time limit after the login. */
const DELIVERY_MS_MAX = 120_000
const RESPONSE_CHARACTERS = 500

/**
 * The result of a delivery. `unknown`: the mail was transmitted in full, but the connection ended before the server
 * replied, so it may have been accepted.
 */
export type Delivery =
  | { outcome: 'accepted'; response: string }
  | { outcome: 'refused' | 'unavailable'; error: ServerError; stage: 'login' | 'recipient' | 'mail'; cause: unknown }
  | { outcome: 'unknown'; cause: unknown }

/** Transmits a mail to the account's SMTP server. Never throws. */
export async function deliver(
  connector: Connector,
  { smtp, address }: EmailAccount,
  recipient: string,
  raw: Buffer,
): Promise<Delivery> {
  let stage: 'login' | 'mail' = 'login'
  // The final dot is sent when the stream ends. Before that, no server delivers the mail.
  let isTransmitted = false
  let timer: NodeJS.Timeout | undefined
  try {
    const connection = await openSmtp(connector, smtp)
    stage = 'mail'
    const message = Readable.from([raw])
    message.once('end', () => {
      isTransmitted = true
    })
    try {
      const response = await new Promise<string>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error('the server took too long')), DELIVERY_MS_MAX)
        connection.send({ from: address, to: [recipient] }, message, (error, info) =>
          error ? reject(error) : resolve(info?.response ?? ''),
        )
      })
      connection.quit()
      return { outcome: 'accepted', response: response.slice(0, RESPONSE_CHARACTERS) }
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (cause) {
    const error = serverError(cause, smtp.login)
    if (isTransmitted && error.code === null) return { outcome: 'unknown', cause }
    const isRecipient = (cause as { command?: string }).command === 'RCPT TO'
    // A failed login is not final for the mail: it can be sent after the account is repaired.
    const isFinal = stage === 'mail' && error.code !== null && error.code >= 500
    return {
      outcome: isFinal ? 'refused' : 'unavailable',
      error,
      stage: isRecipient ? 'recipient' : stage,
      cause,
    }
  } finally {
    clearTimeout(timer)
  }
}

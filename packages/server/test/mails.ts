import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const DIRECTORY = join(import.meta.dirname, 'mails')

/** An unusual mail from test/mails, by its name. */
export function awkwardMail(name: string): Buffer {
  return readFileSync(join(DIRECTORY, `${name}.eml`))
}

/** A mail from Ada to us. */
export function plainMail(id: string, { subject = id, headers = '', body = 'Hello' } = {}): string {
  return `From: Ada <ada@example.com>\r\nTo: sales@ours.example\r\nSubject: ${subject}\r\nMessage-ID: <${id}>\r\n${headers}\r\n${body}\r\n`
}

/** A mail of a given size in bytes, mostly attachment. */
export function largeMail(id: string, bytes: number): Buffer {
  const boundary = 'large'
  const header = `From: Ada <ada@example.com>\r\nTo: sales@ours.example\r\nSubject: Large\r\nMessage-ID: <${id}>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=${boundary}\r\n\r\n`
  const text = `--${boundary}\r\nContent-Type: multipart/alternative; boundary=inner\r\n\r\n--inner\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n--inner\r\nContent-Type: text/html\r\n\r\n<p>Hi<script>x</script></p>\r\n--inner--\r\n`
  const attachment = `--${boundary}\r\nContent-Type: application/zip\r\nContent-Disposition: attachment; filename="large.zip"\r\nContent-Transfer-Encoding: base64\r\n\r\n`
  const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`)
  const lines = Math.ceil(bytes / line.length)
  const content = Buffer.alloc(lines * line.length, line)
  return Buffer.concat([Buffer.from(header + text + attachment), content, Buffer.from(`--${boundary}--\r\n`)])
}

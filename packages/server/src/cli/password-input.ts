import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ServiceError } from '../platform/errors.ts'
import type { Values } from './command.ts'

export interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

/** The problem with the way a call passes its password, or null. */
export function passwordProblem(values: Values): string | null {
  const ways = [values.password, values['password-stdin']].filter((way) => way !== undefined).length
  if (ways > 1) return 'accepts --password-stdin or --password, not both'
  if (ways === 0 && !process.stdin.isTTY) return 'requires --password-stdin or a terminal'
  return null
}

/** Reads the password from standard input, or asks for it at the terminal. */
export async function readPassword(values: Values): Promise<string> {
  if (values['password-stdin'] === true) return passwordIn(await text(process.stdin))
  if (values.password === undefined) return askForPassword({ input: process.stdin, output: process.stderr })
  console.error(
    'cdsctl: --password is visible to every user of this machine in the process list. Use --password-stdin.',
  )
  return String(values.password)
}

/** @throws ServiceError 400 */
function passwordIn(input: string): string {
  const line = onlyLineOf(input)
  if (line !== null) return line
  const message =
    'Standard input has more than one line. Send only the password: a second line may be a confirmation or another password.'
  throw new ServiceError(400, 'invalid_password', message)
}

/**
 * The secret in a file or a pipe, without the line break at its end; null if there are more lines. Taking the first of
 * two would be a guess: the file may be the wrong one, and nobody sees what was read.
 */
export function onlyLineOf(input: string): string | null {
  const line = input.replace(/^\uFEFF/, '').replace(/(\r\n|\n|\r)$/, '')
  return /[\r\n]/.test(line) ? null : line
}

/** Asks twice, without echo. @throws ServiceError 400 if the two differ or the password is empty. */
export async function askForPassword(terminal: Terminal): Promise<string> {
  const [password = '', repeated] = await askWithoutEcho(terminal, ['Password: ', 'Repeat the password: '])
  if (password === repeated) return password
  throw new ServiceError(400, 'invalid_password', 'The passwords do not match. Run the command again.')
}

/** @throws ServiceError 400 if the input ends before every question has its answer. */
export async function askWithoutEcho({ input, output }: Terminal, questions: readonly string[]): Promise<string[]> {
  // While readline edits lines, the terminal itself does not echo, and readline's output is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  const lines = editor[Symbol.asyncIterator]()
  const answers: string[] = []
  try {
    for (const question of questions) {
      output.write(question)
      const { done, value } = await lines.next()
      output.write('\n')
      if (done === true) {
        throw new ServiceError(400, 'invalid_password', 'The password is empty. Run the command again.')
      }
      answers.push(value)
    }
    return answers
  } finally {
    editor.close()
  }
}

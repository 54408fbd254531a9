import { createReadStream } from 'node:fs'
import { FILE_OPTION, listOfFile, secretsOf } from '../operations/command-line.ts'
import type { Declaration } from '../operations/declare.ts'
import { ServiceError } from '../platform/errors.ts'
import { BODY_BYTES_MAX } from '../platform/http/json-body.ts'
import type { Values } from './command.ts'
import { askWithoutEcho, onlyLineOf } from './password-input.ts'

const SECRET_BYTES_MAX = 16_384
const STANDARD_INPUT = '-'

/** The problem with a call whose list may come from a file, or null. */
export function fileProblem(operation: Declaration, values: Values): string | null {
  const list = listOfFile(operation)
  if (list === undefined) return null
  const given = [list, FILE_OPTION].filter((option) => values[option] !== undefined)
  if (given.length === 0) return `requires --${list} or --${FILE_OPTION}`
  return given.length > 1 ? `accepts --${list} or --${FILE_OPTION}, not both` : null
}

/**
 * The options of a call with the secrets and the contents of the file that they name.
 * @throws ServiceError 400 `invalid_option` if a file or a variable cannot be read or is empty.
 */
export async function withContents(operation: Declaration, values: Values): Promise<Values> {
  const contents: Values = {}
  for (const { name, isJson } of secretsOf(operation)) {
    const secret = await readSecret(name, isJson, values)
    if (secret !== undefined) contents[name] = secret
  }
  const file = listOfFile(operation) === undefined ? undefined : values[FILE_OPTION]
  if (file !== undefined) {
    contents[FILE_OPTION] = await readText(FILE_OPTION, String(file), operation.bodyBytesMax ?? BODY_BYTES_MAX)
  }
  return { ...values, ...contents }
}

async function readSecret(name: string, isJson: boolean, values: Values): Promise<string | undefined> {
  const given = [`${name}-file`, `${name}-env`].filter((option) => values[option] !== undefined)
  const [option] = given
  if (option === undefined) return undefined
  if (given.length > 1) throw invalid(`Give --${name}-file or --${name}-env, not both.`)
  const place = String(values[option])
  const text = option.endsWith('-env') ? process.env[place] : await contentOf(option, place, name)
  const secret = isJson ? text?.trim() : onlyLineOf(text ?? '')
  if (secret === null) throw invalid(`--${option}: ${place} has more than one line. It must contain only the secret.`)
  if (secret === undefined || secret === '') throw invalid(`--${option}: ${place} is empty or not set.`)
  return secret
}

async function contentOf(option: string, file: string, name: string): Promise<string | undefined> {
  if (file === STANDARD_INPUT && process.stdin.isTTY) {
    const [answer] = await askWithoutEcho({ input: process.stdin, output: process.stderr }, [`${name}: `])
    return answer
  }
  return readText(option, file, SECRET_BYTES_MAX)
}

async function readText(option: string, file: string, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of file === STANDARD_INPUT ? process.stdin : createReadStream(file)) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > bytesMax)
        throw invalid(`--${option}: ${file} has more than ${bytesMax.toLocaleString('en-US')} bytes.`)
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    throw invalid(`--${option}: ${file} cannot be read (${reason}).`, cause)
  }
  return Buffer.concat(chunks).toString()
}

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError(400, 'invalid_option', message, { cause })
}

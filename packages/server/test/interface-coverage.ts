import { mkdirSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { expect } from 'vitest'
import type { App } from '../src/platform/http/app-types.ts'

/** Where a run stores what its tests requested; `scripts/interface-coverage.ts` creates the page from it. */
export const RECORDS = 'node_modules/.cache/interface-coverage'

/** One kind of response that a test received. */
export interface Seen {
  operation: string
  status: number
  /** Code of an error. */
  code: string | null
  /** Query parameters and fields of the body that were sent. */
  parameters: string[]
  file: string
  test: string
}

const seen = new Map<string, Seen>()

/** Records the requests of a file's tests and their responses. */
export function recordResponses(app: App): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string }
    const { testPath, currentTestName } = expect.getState()
    if (operationId === undefined || testPath === undefined || currentTestName === undefined) return payload
    const response: Seen = {
      operation: operationId,
      status: reply.statusCode,
      code: codeOf(reply.statusCode, payload),
      parameters: [...keysOf(request.query), ...keysOf(request.body)].sort(),
      file: relative(process.cwd(), testPath),
      test: currentTestName,
    }
    seen.set(JSON.stringify(response), response)
    return payload
  })
}

/** Writes the records since the last time. */
export function writeRecords(): void {
  if (seen.size === 0) return
  mkdirSync(RECORDS, { recursive: true })
  writeFileSync(`${RECORDS}/${process.pid}-${performance.now()}.json`, JSON.stringify([...seen.values()]))
  seen.clear()
}

function keysOf(value: unknown): string[] {
  return value !== null && typeof value === 'object' ? Object.keys(value) : []
}

function codeOf(status: number, payload: unknown): string | null {
  if (status < 400 || typeof payload !== 'string') return null
  return (JSON.parse(payload) as { error?: { code?: string } }).error?.code ?? null
}

import { describe, expect, test } from 'vitest'
import type { ServiceError } from '../platform/errors.ts'
import { NONE_IGNORED } from '../platform/ids-of-nobody.ts'
import { applyMapping } from './apply-mapping.ts'
import { type Mapping, requireMapping } from './mapping.ts'

/** A mapping of fields with several paths each; `pathOf` names them by their numbers. */
function mappingOf(fields: number, pathsOfEach: number, pathOf: (number: number) => string): Mapping {
  const path = (field: number) => Array.from({ length: pathsOfEach }, (_, index) => pathOf(field * pathsOfEach + index))
  const properties = Array.from({ length: fields }, (_, field) => [`p${field}`, { path: path(field) }] as const)
  return { contact: { user_id: { value: 'u' }, properties: Object.fromEntries(properties) } }
}

function errorOf(run: () => unknown): ServiceError {
  try {
    run()
  } catch (error) {
    return error as ServiceError
  }
  throw new Error('nothing was refused')
}

describe('the work that a mapping can cause', () => {
  test('a mapping has at most 300 paths, with those of its conditions', () => {
    const mapping = mappingOf(30, 10, (number) => `a${number}`)
    requireMapping(mapping)
    const only_when = [{ path: 'live', equals: [true] }]
    const { status, code, details } = errorOf(() => requireMapping({ ...mapping, only_when }))
    expect([status, code, details]).toEqual([
      400,
      'validation_error',
      [{ path: 'mapping', message: 'has 301 paths. The maximum is 300' }],
    ])
  })

  test('paths that visit too many items together fail, and the message says why', () => {
    const body = Array.from({ length: 50_000 }, () => ({}))
    const path = (number: number) => `[*].a${number}`
    expect(applyMapping(mappingOf(4, 1, path), body, NONE_IGNORED)).toMatchObject({ contact: { properties: {} } })
    const { status, code, message } = errorOf(() => applyMapping(mappingOf(30, 10, path), body, NONE_IGNORED))
    expect([status, code]).toEqual([400, 'hook_body_not_mapped'])
    expect(message).toContain("[*].a4: the mapping's paths read more than 200,000 list items")
  })

  test('a list that many fields use counts for each of them', () => {
    const body = { list: Array(150_000).fill(1) }
    const error = errorOf(() =>
      applyMapping(
        mappingOf(2, 1, () => 'list'),
        body,
        NONE_IGNORED,
      ),
    )
    expect([error.code, error.message]).toEqual(['hook_body_not_mapped', expect.stringContaining('read more than')])
  })
})

test.each([
  [16_370, undefined],
  [16_371, 'hook_body_not_mapped'],
])("an event's data with two texts of %d characters", (length, code) => {
  // The names and the third field have 27 bytes, of 32 KiB.
  const event = { name: { value: 'e' }, data: { a: { path: 't' }, b: { path: 't' }, third: { value: 'x' } } }
  const run = () =>
    applyMapping({ event, contact: { user_id: { value: 'u' } } }, { t: 'x'.repeat(length) }, NONE_IGNORED)
  if (code === undefined) expect(run()).toMatchObject({ event: { name: 'e' } })
  else expect(errorOf(run).code).toBe(code)
})

import { expect, test } from 'vitest'
import { ApiError, type ErrorDetail } from '../src/api/client.ts'
import type { WriteBackProperty } from '../src/api/types.ts'
import { writeBackProblems } from '../src/connections/write-back-problems.ts'

const row = (property: string): WriteBackProperty => ({ property, target: property, conflict: 'newest' })
const refused = (...details: ErrorDetail[]) => new ApiError(400, 'validation_error', 'Refused.', { details })
const [first, second] = [row('jobtitle'), row('city')]

test('a problem is shown at the field that the service named, in the row that it got in that place', () => {
  const error = refused(
    { path: 'properties.0.target', message: 'cannot be written' },
    { path: 'properties.1.conflict', message: 'is unknown' },
  )
  const problems = writeBackProblems(error, [first, second])
  expect(problems.at(first, 'target')).toBe('cannot be written')
  expect(problems.at(first, 'property')).toBeUndefined()
  expect(problems.at(second, 'target')).toBeUndefined()
  expect(problems.at(second, 'conflict')).toBe('is unknown')
  expect(problems.elsewhere).toBeNull()
})

test('a row that was changed or added since has no problem', () => {
  const problems = writeBackProblems(refused({ path: 'properties.0.target', message: 'cannot be written' }), [first])
  expect(problems.at({ ...first, target: 'title' }, 'target')).toBeUndefined()
  expect(problems.at(second, 'target')).toBeUndefined()
})

test.each([
  ['of all rows', refused({ path: 'properties', message: 'must have at most 50' })],
  ['of a row that was not sent', refused({ path: 'properties.1.target', message: 'cannot be written' })],
  ['of a field that the form does not have', refused({ path: 'properties.0.more', message: 'is unknown' })],
  [
    'at a field and elsewhere',
    refused({ path: 'properties.0.target', message: 'is wrong' }, { path: 'create_missing', message: 'is wrong' }),
  ],
  ['without details', new ApiError(404, 'not_found', 'There is no such connection.')],
  ['without a response', new TypeError('The service did not respond.')],
])('a problem %s is shown for the form', (_, error) => {
  expect(writeBackProblems(error, [first]).elsewhere).toBe(error)
})

test('nothing is shown without an error', () => {
  const problems = writeBackProblems(null, [])
  expect(problems.elsewhere).toBeNull()
  expect(problems.at(first, 'target')).toBeUndefined()
})

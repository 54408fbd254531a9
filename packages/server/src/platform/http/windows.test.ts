import { expect, test } from 'vitest'
import { createWindows } from './windows.ts'

test('what was used in the minute before counts by the part of it that is still within a minute', () => {
  const windows = createWindows()
  for (let count = 0; count < 60; count++) windows.count('ada', 59_999)
  expect(windows.usageOf('ada', 59_999)).toEqual({ used: 60, resetSeconds: 60 })
  // The window began with the first count, and ends a minute later.
  expect(windows.usageOf('ada', 119_999)).toEqual({ used: 60, resetSeconds: 60 })
  expect(windows.usageOf('ada', 149_999)).toEqual({ used: 30, resetSeconds: 30 })
  windows.count('ada', 149_999)
  expect(windows.usageOf('ada', 149_999)).toEqual({ used: 31, resetSeconds: 30 })
  expect(windows.usageOf('ada', 179_999)).toEqual({ used: 1, resetSeconds: 60 })
  expect(windows.usageOf('ada', 239_999)).toEqual({ used: 0, resetSeconds: 60 })
  expect(windows.usageOf('grace', 149_999)).toEqual({ used: 0, resetSeconds: 60 })
})

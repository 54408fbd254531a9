import { expect, test } from 'vitest'
import { isTimeZone } from '../../platform/time-zone.ts'
import { dayOf, quietUntil } from './local-time.ts'

const NIGHT = { from: '20:00', to: '08:00' }
const NOON = { from: '12:00', to: '13:30' }

const until = (hours: typeof NIGHT, zone: string, now: string) => quietUntil(hours, zone, new Date(now))?.toISOString()

test.each([
  [NIGHT, 'UTC', '2026-03-10T19:59:59.999Z', undefined],
  [NIGHT, 'UTC', '2026-03-10T20:00:00.000Z', '2026-03-11T08:00:00.000Z'],
  [NIGHT, 'UTC', '2026-03-11T07:59:59.999Z', '2026-03-11T08:00:00.000Z'],
  [NIGHT, 'UTC', '2026-03-11T08:00:00.000Z', undefined],
  [NOON, 'UTC', '2026-03-11T12:10:00.000Z', '2026-03-11T13:30:00.000Z'],
  [NOON, 'UTC', '2026-03-11T13:30:00.000Z', undefined],
  // The last night of a month, and of a year.
  [NIGHT, 'UTC', '2026-12-31T23:00:00.000Z', '2027-01-01T08:00:00.000Z'],
  [NIGHT, 'Europe/Berlin', '2026-06-01T18:30:00.000Z', '2026-06-02T06:00:00.000Z'],
  [NIGHT, 'America/New_York', '2026-06-01T18:30:00.000Z', undefined],
  [NIGHT, 'Asia/Kathmandu', '2026-06-01T18:30:00.000Z', '2026-06-02T02:15:00.000Z'],
  // A night is an hour shorter when clocks go forward, and an hour longer when they go back.
  [NIGHT, 'Europe/Berlin', '2026-03-28T20:00:00.000Z', '2026-03-29T06:00:00.000Z'],
  [NIGHT, 'Europe/Berlin', '2026-10-24T20:00:00.000Z', '2026-10-25T07:00:00.000Z'],
  // At half past two, which the clocks skip that night.
  [{ from: '01:00', to: '02:30' }, 'Europe/Berlin', '2026-03-29T00:30:00.000Z', '2026-03-29T01:30:00.000Z'],
])('quiet hours %j in %s at %s end at %s', (hours, zone, now, end) => {
  expect(until(hours, zone, now)).toBe(end)
})

test.each([
  ['UTC', '2026-03-10T00:00:00.000Z', '2026-03-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29T12:00:00.000Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['Pacific/Auckland', '2026-03-10T12:00:00.000Z', '2026-03-10T11:00:00.000Z', '2026-03-11T11:00:00.000Z'],
])('a day in %s at %s is from %s to %s', (zone, now, start, end) => {
  const day = dayOf(zone, new Date(now))
  expect([day.start.toISOString(), day.end.toISOString()]).toEqual([start, end])
})

test('time zones are names, not offsets', () => {
  expect(['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia'].map(isTimeZone)).toEqual([true, true, true])
  const others = ['', '+02:00', '+0200', 'Mars/Olympus', 'x'.repeat(100), '\0', ' UTC', 7, null, undefined]
  expect(others.filter(isTimeZone)).toEqual([])
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeMmdb } from '../../test/mmdb.ts'
import { NOWHERE, openPlaces, type PlaceOf } from './places.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cds-places-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

describe('the shipped table', () => {
  const placeOf = openPlaces(null)

  test.each([
    ['8.8.8.8', 'US'],
    ['8.8.8.8:4711', 'US'],
    ['::ffff:8.8.8.8', 'US'],
    ['64:ff9b::8.8.8.8', 'US'],
    ['193.0.6.139', 'NL'],
    ['2001:67c:2e8:22::c100:68b', 'NL'],
    ['[2001:67c:2e8:22::c100:68b]:443', 'NL'],
    ['2a01:4f8::1', 'DE'],
  ])('has the country of %s', (address, country) => {
    expect(placeOf(address)).toEqual({ country, region: '', city: '' })
  })

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.1.1',
    '192.0.2.1',
    '0.0.0.0',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1%eth0',
    'fd00::1',
    '2001:db8::1',
    'unknown',
    'invented',
    '8.8.8.8.8',
    '',
  ])('has no country for %j', (address) => {
    expect(placeOf(address)).toEqual(NOWHERE)
  })
})

describe("the operator's table", () => {
  let placeOf: PlaceOf
  beforeAll(async () => {
    const file = join(directory, 'city.mmdb')
    await writeMmdb(file, {
      '1.1.1.0/24': {
        country: { iso_code: 'DE', names: { en: 'Germany' } },
        subdivisions: [{ iso_code: 'NW', names: { de: 'NRW', en: 'North Rhine' } }, { iso_code: 'X' }],
        city: { names: { en: 'Bielefeld' } },
      },
      '1.1.2.0/24': { country_code: 'FR', state1: 'Brittany', state2: 'x', city: 'Brest' },
      '1.1.3.0/24': { country: 'IT', region: 'Lazio', city: 'Rome' },
      '1.1.4.0/24': { country_code: 'None', city: { names: { de: 'Wien' } }, subdivisions: [] },
      '10.0.0.0/8': { country_code: 'DE' },
    })
    placeOf = openPlaces(file)
  })

  test.each([
    ['1.1.1.7', { country: 'DE', region: 'North Rhine', city: 'Bielefeld' }],
    ['1.1.2.7', { country: 'FR', region: 'Brittany', city: 'Brest' }],
    ['1.1.3.7', { country: 'IT', region: 'Lazio', city: 'Rome' }],
    ['1.1.4.7', NOWHERE],
    ['1.1.5.7', NOWHERE],
    ['10.1.1.1', NOWHERE],
  ])('says that %s is in %j', (address, place) => {
    expect(placeOf(address)).toEqual(place)
  })

  test.each([
    ['is missing', 'missing.mmdb', null, '(ENOENT)'],
    ['is empty', 'empty.mmdb', '', ''],
    ['is something else', 'other.mmdb', 'network,country\n1.1.1.0/24,DE\n', ''],
  ])('that %s is an error that says what to do', async (_what, name, content, reason) => {
    const file = join(directory, name)
    if (content !== null) await writeFile(file, content)
    expect(() => openPlaces(file)).toThrow(
      expect.objectContaining({
        code: 'geo_database_unreadable',
        message: expect.stringContaining(`cannot read ${file}, which CDS_GEO_DATABASE names${reason && ` ${reason}`}.`),
      }),
    )
  })
})

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Reader, type Response } from 'mmdb-lib'
import { firstCharacters } from './characters.ts'
import { ServiceError } from './errors.ts'
import { parseAddress } from './http/networks.ts'
import { isObject } from './is-object.ts'

/** Where a network is, as far as it is known; '' for the rest. */
export interface Place {
  /** ISO 3166-1 alpha-2, in capitals. */
  country: string
  region: string
  city: string
}

/** Looks up where an address is. */
export type PlaceOf = (address: string) => Place

export const NOWHERE: Place = Object.freeze({ country: '', region: '', city: '' })

const COUNTRY = /^[A-Z]{2}$/
const NAME_LENGTH_MAX = 200

/**
 * Reads a table of addresses into memory: the operator's file, or the one that is shipped, which has countries alone.
 * @throws ServiceError `geo_database_unreadable`.
 */
export function openPlaces(file: string | null): PlaceOf {
  const table = read(file)
  return (address) => {
    const parsed = parseAddress(address)
    // A table may name its owner for private addresses, or nobody's country for reserved ones.
    return parsed?.range() === 'unicast' ? placeIn(table.get(parsed.toString())) : NOWHERE
  }
}

/** The same, but read when the first address is looked up: most commands look up none. */
export function openPlacesLater(file: string | null): PlaceOf {
  let placeOf: PlaceOf | undefined
  return (address) => {
    placeOf ??= openPlaces(file)
    return placeOf(address)
  }
}

function read(file: string | null): Reader<Response> {
  try {
    return new Reader(readFileSync(file ?? shippedFile()))
  } catch (cause) {
    const [named, remedy] =
      file === null
        ? ['the table of addresses that npm installs', 'Run npm install again, or set CDS_GEO_DATABASE to your own.']
        : [`${file}, which CDS_GEO_DATABASE names`, 'Set it to the path of an .mmdb file, or remove it.']
    const reason = isObject(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    const message = `The service cannot read ${named}${reason}. ${remedy}`
    throw new ServiceError(503, 'geo_database_unreadable', message, { cause })
  }
}

function shippedFile(): string {
  return fileURLToPath(import.meta.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'))
}

/** The fields of the tables of MaxMind, DB-IP and ip-location-db. */
function placeIn(row: unknown): Place {
  if (!isObject(row)) return NOWHERE
  const country = textOf(row.country_code) || textOf(isObject(row.country) ? row.country.iso_code : row.country)
  const [subdivision] = Array.isArray(row.subdivisions) ? row.subdivisions : []
  return {
    country: COUNTRY.test(country) ? country : '',
    region: nameOf(subdivision) || nameOf(row.region) || nameOf(row.state1),
    city: nameOf(row.city),
  }
}

/** A name, or the English one of several. */
function nameOf(value: unknown): string {
  const name = isObject(value) && isObject(value.names) ? value.names.en : value
  return firstCharacters(textOf(name), NAME_LENGTH_MAX)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

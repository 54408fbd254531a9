const UUID_BYTES = 16
/** The length of an element and the element. */
const ELEMENT_BYTES = 4 + UUID_BYTES
/** PostgreSQL's number of the type uuid. */
const UUID_TYPE = 2950

/**
 * UUIDs as a parameter of the type `uuid[]` in PostgreSQL's binary form, as which a Buffer is sent. With thousands of them,
 * parsing their text costs the server more than finding and storing them.
 */
export function uuidArray(ids: readonly string[]): Buffer {
  const bytes = Buffer.from(ids.join('').replaceAll('-', ''), 'hex')
  if (bytes.length !== ids.length * UUID_BYTES) throw new Error('An id is not a UUID.')
  // An empty array has no dimension. Otherwise it has one, without nulls, counted from 1.
  const header = ids.length === 0 ? [0, 0, UUID_TYPE] : [1, 0, UUID_TYPE, ids.length, 1]
  const array = Buffer.allocUnsafe(header.length * 4 + ids.length * ELEMENT_BYTES)
  for (const [index, value] of header.entries()) array.writeInt32BE(value, index * 4)
  for (let index = 0; index < ids.length; index++) {
    const at = header.length * 4 + index * ELEMENT_BYTES
    array.writeInt32BE(UUID_BYTES, at)
    bytes.copy(array, at + 4, index * UUID_BYTES, (index + 1) * UUID_BYTES)
  }
  return array
}

import type { Entity } from '../api/bulk.ts'
import { ApiError } from '../api/client.ts'
import { type PropertyValue, propertyText } from '../ui/property-value.ts'
import { text } from './text.ts'

interface Saving<Version> {
  entity: Entity
  /** The value that the person saw. */
  shown: PropertyValue | undefined
  /** Reads the record: it must still have this value, and not change until it is saved. */
  read: () => Promise<{ value: PropertyValue | undefined; version: Version }>
  /** Shows the new value at once. @returns a function that undoes it. */
  show: (value: PropertyValue | null) => () => void
  write: (value: PropertyValue | null, version: Version) => Promise<unknown>
  refresh: () => Promise<unknown>
}

/** Begins to edit a value: reads the version that the change will be about. @returns how to save it. */
export function beginSaving<Version>({ entity, shown, read, show, write, refresh }: Saving<Version>) {
  const reading = read()
  // A failure is reported when the value is saved.
  reading.catch(() => {})
  return async (value: PropertyValue | null) => {
    const undo = show(value)
    try {
      const { value: current, version } = await reading
      if (propertyText(current) !== propertyText(shown)) throw new ApiError(412, 'changed_meanwhile', '')
      await write(value, version)
    } catch (error) {
      undo()
      const isConflict = error instanceof ApiError && error.code === 'changed_meanwhile'
      if (!isConflict) throw error
      await refresh()
      throw new Error(text.edit.conflict(entity), { cause: error })
    }
    void refresh()
  }
}

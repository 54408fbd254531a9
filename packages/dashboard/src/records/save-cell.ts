import type { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { type RecordChanges, refreshRecords, showChange, updateRecord } from '../api/optimistic.ts'
import type { Entity } from '../api/types.ts'
import { type PropertyValue, propertyText } from '../ui/property-value.ts'
import { text } from './text.ts'

interface Cell {
  entity: Entity
  id: string
  /** The value that the person saw. */
  shown: PropertyValue | undefined
  /** Reads the record: it must still have this value, and not change until it is saved. */
  read: () => Promise<{ value: PropertyValue | undefined; version: string | null }>
  changesOf: (value: PropertyValue | null) => RecordChanges
}

/** Begins to edit a value: reads the version that the change will be about. @returns how to save it. */
export function beginSaving(queryClient: QueryClient, { entity, id, shown, read, changesOf }: Cell) {
  const reading = read()
  // A failure is reported when the value is saved.
  reading.catch(() => {})
  return async (value: PropertyValue | null) => {
    const changes = changesOf(value)
    const undo = showChange(queryClient, entity, id, changes)
    try {
      const { value: current, version } = await reading
      if (propertyText(current) !== propertyText(shown)) throw new ApiError(412, 'changed_meanwhile', '')
      await updateRecord(entity, id, changes, version)
    } catch (error) {
      undo()
      const isConflict = error instanceof ApiError && error.code === 'changed_meanwhile'
      if (!isConflict) throw error
      await refreshRecords(queryClient, entity)
      throw new Error(text.edit.conflict(entity), { cause: error })
    }
    void refreshRecords(queryClient, entity)
  }
}

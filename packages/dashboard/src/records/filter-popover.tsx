import { Button, Group, NativeSelect, Popover, Text } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type RefObject, useState } from 'react'
import type { Entity, SegmentFilter } from '../api/types.ts'
import { allSegmentsQuery, segmentsOf } from '../filters/all-segments.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { useFilterForm } from '../filters/use-filter-form.ts'
import { Form } from '../ui/form.tsx'
import classes from './filter-popover.module.css'
import { text } from './text.ts'

/** The filter of a table of contacts or companies. */
export interface RecordFilter {
  filter: SegmentFilter | undefined
  segmentId?: string | undefined
  importId?: string | undefined
}

interface FilterPopoverProps extends RecordFilter {
  entity: Entity
  /** How many conditions are active. */
  active: number
  onFilter: (changed: RecordFilter) => void
  button: RefObject<HTMLButtonElement | null>
}

/** The button with the filter of a table: conditions as in a segment, and the segment to choose from. */
export function FilterPopover({ button, active, ...props }: FilterPopoverProps) {
  const [isOpen, setOpen] = useState(false)
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    // Lists of suggestions are outside the popover, so a click outside must not close it.
    <Popover
      opened={isOpen}
      onChange={setOpen}
      closeOnClickOutside={false}
      closeOnEscape={false}
      position="bottom-start"
      width="min(640px, calc(100vw - 32px))"
      trapFocus
      returnFocus
      shadow="md"
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          ref={button}
          onClick={() => setOpen(!isOpen)}
        >
          {text.filter.button(active)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown} aria-label={text.filter.title}>
        <FilterForm
          {...props}
          onFilter={(changed) => {
            props.onFilter(changed)
            close()
          }}
          onCancel={close}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

type FilterFormProps = Omit<FilterPopoverProps, 'button' | 'active'> & { onCancel: () => void }

function FilterForm({ entity, filter, segmentId, onFilter, onCancel }: FilterFormProps) {
  const form = useFilterForm(entity, filter)
  const [segment, setSegment] = useState(segmentId ?? '')
  const apply = () =>
    onFilter({
      filter: form.filter.conditions.length > 0 ? form.filter : undefined,
      segmentId: segment === '' ? undefined : segment,
    })
  // In a field with suggestions, the key closes those first.
  const onKeyDown = (event: KeyboardEvent) => {
    const isList = event.target instanceof Element && event.target.getAttribute('aria-expanded') === 'true'
    if (event.key === 'Escape' && !isList) onCancel()
  }
  return (
    <Form gap="sm" onKeyDown={onKeyDown} onSubmit={apply}>
      {entity === 'contacts' ? <SegmentChoice value={segment} onChange={setSegment} /> : null}
      <FilterBuilder form={form} />
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {form.unfinished > 0 ? text.filter.unfinished(form.unfinished) : ''}
        </Text>
        <Group gap="xs">
          <Button variant="default" onClick={onCancel}>
            {text.filter.cancel}
          </Button>
          <Button type="submit">{text.filter.apply}</Button>
        </Group>
      </Group>
    </Form>
  )
}

function SegmentChoice({ value, onChange }: { value: string; onChange: (segmentId: string) => void }) {
  const { data } = useQuery(allSegmentsQuery)
  const segments = segmentsOf(data, 'contacts')
  const isKnown = value === '' || segments.some(({ segment_id }) => segment_id === value)
  return (
    <NativeSelect
      label={text.filter.segment}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: '', label: text.filter.anySegment },
        ...(isKnown ? [] : [{ value, label: data ? text.filter.unknownSegment : '…' }]),
        ...segments.map(({ segment_id, name }) => ({ value: segment_id, label: name.slice(0, 100) })),
      ]}
    />
  )
}

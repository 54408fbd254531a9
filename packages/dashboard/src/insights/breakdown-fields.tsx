import { ActionIcon, Button, Group } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import type { MeantDraft } from './draft.ts'
import { EventPropertyField } from './event-property-field.tsx'
import { FieldGroup } from './shared-fields.tsx'
import { text } from './text.ts'

const words = text.trend
/** The service's limit. */
const BREAKDOWNS_MAX = 2

interface BreakdownFieldsProps {
  breakdown: readonly string[]
  /** The events that have the properties. */
  meant: readonly MeantDraft[]
  onChange: (breakdown: string[]) => void
}

/** The properties that an answer is divided by: of the events, or of their contacts and companies. */
export function BreakdownFields({ breakdown, meant, onChange }: BreakdownFieldsProps) {
  const adder = useRef<HTMLButtonElement>(null)
  const [isAdding, setAdding] = useState(false)
  const [only, ...others] = meant
  const shown = isAdding ? [...breakdown, ''] : breakdown
  const set = (at: number, property: string) => {
    setAdding(false)
    onChange(shown.map((name, index) => (index === at ? property : name)).filter((name) => name !== ''))
  }
  const remove = (at: number) => {
    adder.current?.focus()
    set(at, '')
  }
  return (
    <FieldGroup label={words.breakdown}>
      {shown.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what a field is about
        <Group key={index} gap="xs" wrap="nowrap">
          <EventPropertyField
            label={words.breakdownAt(index + 1)}
            event={others.length === 0 ? (only?.event ?? '') : ''}
            withContacts
            value={name}
            autoFocus={name === ''}
            onChange={(property) => set(index, property)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={words.removeBreakdown(index + 1)}
            onClick={() => remove(index)}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Button
        ref={adder}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} aria-hidden />}
        style={{ alignSelf: 'flex-start' }}
        disabled={shown.length >= BREAKDOWNS_MAX}
        onClick={() => setAdding(true)}
      >
        {words.addBreakdown}
      </Button>
    </FieldGroup>
  )
}

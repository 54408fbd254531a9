import { ActionIcon, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import type { MeantDraft } from './draft.ts'
import { MeantFields } from './meant-fields.tsx'

interface MeantListProps<Draft> {
  label: string
  drafts: readonly Draft[]
  /** The letter or number of a part, and what it is called with it. */
  markOf: (index: number) => string
  nameOf: (index: number) => string
  create: () => Draft
  min: number
  max: number
  words: { add: string; remove: (mark: string) => string }
  onChange: (drafts: Draft[]) => void
  /** Further fields of a part. */
  children?: (draft: Draft, index: number, onChange: (draft: Draft) => void) => ReactNode
}

/** Events that a question is about, one after another, which can be added and removed. */
export function MeantList<Draft extends MeantDraft>(props: MeantListProps<Draft>) {
  const { label, drafts, markOf, nameOf, create, min, max, words, onChange, children } = props
  const [added, setAdded] = useState('')
  const adder = useRef<HTMLButtonElement>(null)
  const add = () => {
    const created = create()
    setAdded(created.id)
    onChange([...drafts, created])
  }
  // The button that removed a part disappears with it; the focus stays nearby.
  const remove = (id: string) => {
    adder.current?.focus()
    onChange(drafts.filter((each) => each.id !== id))
  }
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      {drafts.map((draft, index) => {
        const change = (changed: Draft) => onChange(drafts.map((each) => (each.id === draft.id ? changed : each)))
        return (
          <Paper key={draft.id} p="sm" role="group" aria-label={nameOf(index)}>
            <Group gap="xs" align="flex-start" wrap="nowrap">
              <Text fw={650} size="sm" mt={7} aria-hidden>
                {markOf(index)}
              </Text>
              <Stack gap="xs" flex={1} miw={0}>
                <MeantFields name={nameOf(index)} draft={draft} autoFocus={draft.id === added} onChange={change} />
                {children?.(draft, index, change)}
              </Stack>
              {drafts.length > min ? (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  mt={4}
                  aria-label={words.remove(markOf(index))}
                  onClick={() => remove(draft.id)}
                >
                  <IconX size={16} aria-hidden />
                </ActionIcon>
              ) : null}
            </Group>
          </Paper>
        )
      })}
      <Button
        ref={adder}
        variant="light"
        size="xs"
        leftSection={<IconPlus size={14} aria-hidden />}
        style={{ alignSelf: 'flex-start' }}
        disabled={drafts.length >= max}
        onClick={add}
      >
        {words.add}
      </Button>
    </Stack>
  )
}

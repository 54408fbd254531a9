import { Button, Radio, Stack, Text } from '@mantine/core'
import { IconGitMerge } from '@tabler/icons-react'
import { useState } from 'react'
import type { Contact } from '../api/types.ts'
import { contactChoice } from '../records/find-contacts.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { formatMoment } from '../ui/format.ts'
import { text } from './text.ts'
import { useMerge } from './use-merge.ts'

/** Merges two contacts that were selected in a list. */
export function MergePair({ pair }: { pair: readonly [Contact, Contact] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconGitMerge size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {text.merge.confirm}
      </Button>
      {isOpen ? <PairDialog pair={pair} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function PairDialog({ pair, onClose }: { pair: readonly [Contact, Contact]; onClose: () => void }) {
  const [first, second] = pair
  // The older one, usually: it is known by more.
  const [keptId, setKeptId] = useState((first.created_at <= second.created_at ? first : second).contact_id)
  const merging = useMerge()
  const merged = first.contact_id === keptId ? second : first
  return (
    <FormDialog
      title={text.merge.pairTitle}
      submit={text.merge.confirm}
      sending={merging}
      onSubmit={() => merging.mutate({ contact_id: merged.contact_id, into: keptId })}
      onClose={onClose}
    >
      <Radio.Group label={text.merge.keep} value={keptId} onChange={setKeptId}>
        <Stack gap="xs" mt="xs">
          {pair.map((contact) => (
            <Radio
              key={contact.contact_id}
              value={contact.contact_id}
              label={contactChoice(contact).slice(0, 160)}
              description={text.merge.since(formatMoment(contact.created_at))}
            />
          ))}
        </Stack>
      </Radio.Group>
      <Text size="sm">{text.merge.pairExplanation}</Text>
    </FormDialog>
  )
}

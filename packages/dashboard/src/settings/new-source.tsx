import { Modal, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type CreateSourceInput, createSource, refreshSources } from '../api/sources.ts'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { SecretShown } from './secret-shown.tsx'
import { text } from './sources-text.ts'

const { create: words } = text
const TYPES = ['server', 'browser'] as const

/** The form for a new source, whose write key is then shown once. */
export function NewSourceDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => setMade(null)}
      title={made === null ? words.title : words.titleWhenCreated}
      // A click outside must not close the dialog before the key is saved.
      closeOnClickOutside={made === null}
      closeOnEscape={made === null}
      withCloseButton={made === null}
    >
      {made === null ? (
        <SourceForm onMade={setMade} onCancel={onClose} />
      ) : (
        <SecretShown secret={made} words={text.shown} onDone={onClose} />
      )}
    </Modal>
  )
}

function SourceForm({ onMade, onCancel }: { onMade: (writeKey: string) => void; onCancel: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [type, setType] = useState<CreateSourceInput['type']>('server')
  const making = useMutation({
    mutationFn: () => createSource({ name: name.trim(), type }),
    onSuccess: ({ write_key: writeKey }) => {
      onMade(writeKey)
      return refreshSources(queryClient)
    },
  })
  return (
    <Form onSubmit={() => making.mutate()}>
      <TextInput
        label={words.name}
        description={words.nameDescription}
        required
        {...upTo(200)}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Radio.Group label={words.type} value={type} onChange={(value) => setType(value as CreateSourceInput['type'])}>
        <Stack gap="xs" mt="xs">
          {TYPES.map((each) => (
            <Radio
              key={each}
              value={each}
              label={words.types[each].label}
              description={words.types[each].description}
            />
          ))}
        </Stack>
      </Radio.Group>
      <FormError error={making.error} />
      <FormButtons submit={words.submit} cancel={words.cancel} isPending={making.isPending} onCancel={onCancel} />
    </Form>
  )
}

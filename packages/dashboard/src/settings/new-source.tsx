import { Radio, Stack } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { CreateSourceInput } from '../api/types.ts'
import { FormDialog, NameField } from '../ui/form-dialog.tsx'
import { SecretShown } from '../ui/secret-shown.tsx'
import { text } from './sources-text.ts'

const { create: words } = text
const TYPES = ['server', 'browser'] as const

/** The form for a new source, whose write key is then shown once. */
export function NewSourceDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [type, setType] = useState<CreateSourceInput['type']>('server')
  const creating = useOperation('createSource')
  const made = creating.data?.write_key
  return (
    <FormDialog
      title={words.title}
      submit={words.submit}
      sending={creating}
      onSubmit={() => creating.mutate({ name: name.trim(), type })}
      onClose={onClose}
      result={
        made === undefined
          ? null
          : {
              title: words.titleWhenCreated,
              content: <SecretShown secret={made} words={text.shown} onDone={onClose} />,
            }
      }
    >
      <NameField value={name} onChange={setName} description={words.nameDescription} />
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
    </FormDialog>
  )
}

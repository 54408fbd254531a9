import { Stack, Text, TextInput } from '@mantine/core'
import { FieldRows } from '../ui/field-rows.tsx'
import { text } from './text.ts'

interface Header {
  name: string
  value: string
}

/** Headers that are sent with each request. */
export function HeaderFields({ value, onChange }: { value: Header[]; onChange: (headers: Header[]) => void }) {
  return (
    <Stack gap="xs" role="group" aria-label={text.headers.label}>
      <Text size="sm" fw={550}>
        {text.headers.title}
      </Text>
      <FieldRows
        rows={value}
        onChange={onChange}
        newRow={() => ({ name: '', value: '' })}
        addLabel={text.headers.add}
        removeLabel={text.headers.remove}
      >
        {(header, number, change) => (
          <>
            <TextInput
              aria-label={text.headers.name(number)}
              placeholder={text.headers.namePlaceholder}
              required
              flex={1}
              miw={0}
              value={header.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={text.headers.value(number)}
              flex={2}
              miw={0}
              autoComplete="off"
              value={header.value}
              onChange={(event) => change({ value: event.currentTarget.value })}
            />
          </>
        )}
      </FieldRows>
    </Stack>
  )
}

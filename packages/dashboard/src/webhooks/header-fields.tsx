import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'

interface Header {
  name: string
  value: string
}

/** Headers that are sent with each request. */
export function HeaderFields({ value, onChange }: { value: Header[]; onChange: (headers: Header[]) => void }) {
  const setOne = (index: number, changes: Partial<Header>) =>
    onChange(value.map((each, at) => (at === index ? { ...each, ...changes } : each)))
  return (
    <Stack gap="xs" role="group" aria-label="Custom headers">
      <Text size="sm" fw={550}>
        Headers sent with each request
      </Text>
      {value.map((header, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a header may not have a name yet, and all fields are controlled
        <Group key={index} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={`Header ${index + 1}`}
            placeholder="Authorization"
            required
            flex={1}
            miw={0}
            value={header.name}
            onChange={(event) => setOne(index, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of header ${index + 1}`}
            flex={2}
            miw={0}
            autoComplete="off"
            value={header.value}
            onChange={(event) => setOne(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => onChange(value.filter((_, at) => at !== index))}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...value, { name: '', value: '' }])}
        >
          Add a header
        </Button>
      </div>
    </Stack>
  )
}

import { Alert, Button, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useOperation } from '../api/operation.ts'
import { useIsAtLeast } from '../session/may.ts'
import { messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

interface GuideKeyProps {
  name: string
  scopes: string[]
  /** Whether the key works only over MCP and hides personal data. */
  isForAgent: boolean
  isCreated: boolean
  onCreated: (apiKey: string) => void
}

/** Creates the key that the code of a guide needs, with no more scopes than that. */
export function GuideKey({ name, scopes, isForAgent, isCreated, onCreated }: GuideKeyProps) {
  const mayCreate = useIsAtLeast('admin')
  const creating = useOperation('createApiKey', { onDone: ({ api_key: apiKey }) => onCreated(apiKey) })
  if (isCreated) {
    return (
      <Alert color="teal" icon={<IconKey aria-hidden />} role="status">
        {text.key.created}
      </Alert>
    )
  }
  if (!mayCreate) return <Text size="sm">{text.key.adminsOnly}</Text>
  return (
    <div>
      <Button
        leftSection={<IconKey size={16} aria-hidden />}
        loading={creating.isPending}
        onClick={() => creating.mutate({ name, scopes, ...(isForAgent ? { redact_personal_data: true } : {}) })}
      >
        {text.key.create}
      </Button>
      <Text size="sm" c="dimmed" mt="xs">
        {text.key.explain(scopes)}
        {isForAgent ? ` ${text.key.explainAgent}` : null}
      </Text>
      {creating.error ? (
        <Alert color="red" role="alert" mt="xs">
          {messageOf(creating.error)}
        </Alert>
      ) : null}
    </div>
  )
}

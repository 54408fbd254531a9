import { Alert, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core'
import type { Playbooks } from '../api/agents.ts'
import type { AgentDraft, Provider } from './agent-draft.ts'

const PROVIDERS: { value: Provider; label: string }[] = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'openai_compatible', label: 'An OpenAI-compatible server' },
  { value: 'template', label: "No model: use the template's messages" },
]

interface ModelFieldsProps {
  draft: Pick<AgentDraft, 'provider' | 'model' | 'baseUrl' | 'temperature' | 'maxTokens'>
  playbooks: Playbooks
  onChange: (changes: Partial<AgentDraft>) => void
}

/** The model of an agent. The providers' keys are only in the environment of the service. */
export function ModelFields({ draft, playbooks, onChange }: ModelFieldsProps) {
  const { default_model: standard, configured_providers: configured } = playbooks
  const { provider } = draft
  const lacksKey = (provider === 'openai' || provider === 'anthropic') && !configured.includes(provider)
  const isModel = provider !== '' && provider !== 'template'
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Provider"
        value={provider}
        onChange={(event) => onChange({ provider: event.currentTarget.value as AgentDraft['provider'] })}
        data={[
          {
            value: '',
            label: standard ? `Service default (${standard.model})` : 'Service default (no model)',
          },
          ...PROVIDERS,
        ]}
      />
      {standard === null && provider === '' ? (
        <Alert color="ink" variant="light" role="note">
          The service has no language model yet, so the template's messages are used. The operator sets a key in the
          environment of the service.
        </Alert>
      ) : null}
      {lacksKey ? (
        <Alert color="orange" variant="light" role="note">
          The service has no key for this provider. Until it has one, the template's messages are used, and each waits
          for approval.
        </Alert>
      ) : null}
      {provider === 'template' ? null : (
        <>
          {provider === 'openai_compatible' ? (
            <TextInput
              label="Server URL"
              description="Default: the URL that the service uses."
              type="url"
              placeholder="https://llm.example.com/v1"
              maxLength={2_000}
              value={draft.baseUrl}
              onChange={(event) => onChange({ baseUrl: event.currentTarget.value })}
            />
          ) : null}
          <TextInput
            label="Model"
            description={isModel ? "Default: the provider's usual model." : 'Default: the model that the service uses.'}
            required={provider === 'openai_compatible' && draft.baseUrl.trim() !== ''}
            maxLength={200}
            value={draft.model}
            onChange={(event) => onChange({ model: event.currentTarget.value })}
          />
          <Group grow align="flex-start">
            <NumberInput
              label="Temperature"
              min={0}
              max={2}
              step={0.1}
              value={draft.temperature}
              onChange={(temperature) => onChange({ temperature })}
            />
            <NumberInput
              label="Maximum tokens per response"
              min={1}
              max={200_000}
              allowDecimal={false}
              value={draft.maxTokens}
              onChange={(maxTokens) => onChange({ maxTokens })}
            />
          </Group>
        </>
      )}
    </Stack>
  )
}

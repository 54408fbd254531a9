import { Alert, Group, NativeSelect, NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import type { Playbooks } from '../api/types.ts'
import type { AgentDraft, Provider } from './agent-draft.ts'
import { text } from './text.ts'

const PROVIDERS: { value: Provider; label: string }[] = [
  { value: 'openai', label: text.model.providers.openai },
  { value: 'anthropic', label: text.model.providers.anthropic },
  { value: 'openai_compatible', label: text.model.providers.openai_compatible },
  { value: 'template', label: text.model.providers.template },
]

interface ModelFieldsProps {
  draft: Pick<AgentDraft, 'provider' | 'model' | 'baseUrl' | 'temperature' | 'maxTokens' | 'toolsMax' | 'redacts'>
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
        label={text.model.provider}
        value={provider}
        onChange={(event) => onChange({ provider: event.currentTarget.value as AgentDraft['provider'] })}
        data={[{ value: '', label: text.model.defaultProvider(standard?.model ?? null) }, ...PROVIDERS]}
      />
      {standard === null && provider === '' ? (
        <Alert color="ink" variant="light" role="note">
          {text.model.none}
        </Alert>
      ) : null}
      {lacksKey ? (
        <Alert color="orange" variant="light" role="note">
          {text.model.lacksKey}
        </Alert>
      ) : null}
      {provider === 'template' ? null : (
        <>
          {provider === 'openai_compatible' ? (
            <TextInput
              label={text.model.url}
              description={text.model.urlDescription}
              type="url"
              placeholder={text.model.urlExample}
              maxLength={2_000}
              value={draft.baseUrl}
              onChange={(event) => onChange({ baseUrl: event.currentTarget.value })}
            />
          ) : null}
          <TextInput
            label={text.model.label}
            description={isModel ? text.model.ofProvider : text.model.ofService}
            required={provider === 'openai_compatible' && draft.baseUrl.trim() !== ''}
            maxLength={200}
            value={draft.model}
            onChange={(event) => onChange({ model: event.currentTarget.value })}
          />
          <Group grow align="flex-start">
            <NumberInput
              label={text.model.temperature}
              min={0}
              max={2}
              step={0.1}
              value={draft.temperature}
              onChange={(temperature) => onChange({ temperature })}
            />
            <NumberInput
              label={text.model.maxTokens}
              min={1}
              max={200_000}
              allowDecimal={false}
              value={draft.maxTokens}
              onChange={(maxTokens) => onChange({ maxTokens })}
            />
          </Group>
          <NumberInput
            label={text.model.toolsMax}
            description={text.model.toolsMaxDescription}
            min={0}
            max={20}
            allowDecimal={false}
            value={draft.toolsMax}
            onChange={(toolsMax) => onChange({ toolsMax })}
          />
          <Switch
            label={text.model.redacts}
            description={text.model.redactsDescription}
            checked={draft.redacts}
            onChange={(event) => onChange({ redacts: event.currentTarget.checked })}
          />
        </>
      )}
    </Stack>
  )
}

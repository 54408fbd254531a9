import { NativeSelect, PasswordInput, Switch, TextInput } from '@mantine/core'
import type { Connector } from '../api/types.ts'
import { upTo } from '../ui/up-to.ts'
import { fieldWords } from './connection-words.ts'
import { text } from './text.ts'

const CREDENTIAL_LENGTH_MAX = 4_096
const SETTING_LENGTH_MAX = 1_000

/** The parts of a setting's JSON Schema that its field shows. */
interface Schema {
  type?: string
  enum?: unknown[]
  title?: string
  description?: string
  default?: unknown
  examples?: unknown[]
  maxLength?: number
  /** The value comes from the provider's response to a sign-in, so nobody enters it. */
  readOnly?: boolean
}

/** The entered or chosen values, by field name. */
export type Draft = Readonly<Record<string, string>>

interface FieldsProps {
  connector: Connector
  draft: Draft
  onChange: (draft: Draft) => void
}

/** The secret fields to sign in with. @param isKept whether blank fields keep the sign-in. */
export function CredentialFields({ connector, draft, onChange, isKept = false }: FieldsProps & { isKept?: boolean }) {
  return connector.credentials.map(({ name, description }) => (
    <PasswordInput
      key={name}
      label={fieldWords(name)}
      description={text.create.stored(description)}
      required={!isKept}
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': text.create.show(fieldWords(name)) }}
      value={draft[name] ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ ...draft, [name]: value })}
      {...upTo(CREDENTIAL_LENGTH_MAX)}
    />
  ))
}

/** The connector's other fields, rendered from their JSON Schemas. */
export function SettingFields({ connector, draft, onChange }: FieldsProps) {
  return shownSettings(connector).map(([name, schema]) => {
    const value = draft[name] ?? ''
    const change = (next: string) => onChange({ ...draft, [name]: next })
    const isRequired = connector.required_settings.includes(name)
    const common = { label: schema.title ?? fieldWords(name), description: schema.description, required: isRequired }
    if (schema.enum) {
      const values = schema.enum.map(String)
      return (
        <NativeSelect
          key={name}
          {...common}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
          data={[{ value: '', label: isRequired ? '' : text.create.default }, ...values]}
        />
      )
    }
    if (schema.type === 'boolean') {
      return (
        <Switch
          key={name}
          label={common.label}
          description={common.description}
          checked={(value === '' ? String(schema.default) : value) === 'true'}
          onChange={(event) => change(String(event.currentTarget.checked))}
        />
      )
    }
    return (
      <TextInput
        key={name}
        {...common}
        type={isNumber(schema) ? 'number' : 'text'}
        placeholder={schema.examples?.[0] === undefined ? undefined : String(schema.examples[0])}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        {...upTo(schema.maxLength ?? SETTING_LENGTH_MAX)}
      />
    )
  })
}

/** The credentials of a form, without empty ones. */
export function credentialsOf(draft: Draft): Record<string, string> {
  const trimmed = Object.entries(draft).map(([name, value]) => [name, value.trim()] as const)
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
}

/** The settings that people enter. */
export function shownSettings({ settings }: Connector): [string, Schema][] {
  return Object.entries(settings as Record<string, Schema>).filter(([, { readOnly }]) => !readOnly)
}

/** The settings of a form, without empty ones. Settings that nobody enters stay unchanged. */
export function settingsOf(connector: Connector, draft: Draft, before: Readonly<Record<string, unknown>> = {}) {
  const shown = shownSettings(connector)
  const names = shown.map(([name]) => name)
  const kept = Object.entries(before).filter(([name]) => !names.includes(name))
  const entered = shown.flatMap(([name, schema]): [string, unknown][] => {
    const value = (draft[name] ?? '').trim()
    if (value === '') return []
    if (schema.type === 'boolean') return [[name, value === 'true']]
    return [[name, isNumber(schema) ? Number(value) : value]]
  })
  return Object.fromEntries([...kept, ...entered])
}

function isNumber({ type }: Schema): boolean {
  return type === 'number' || type === 'integer'
}

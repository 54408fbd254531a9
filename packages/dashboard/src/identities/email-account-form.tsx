import { Alert, Button, Group, NativeSelect, NumberInput, PasswordInput, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { EmailAccount, SetEmailAccountInput } from '../api/types.ts'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { MAIL_PRESETS } from './mail-presets.ts'
import { text } from './text.ts'

const OTHER = 'other'

interface EmailAccountFormProps {
  identityId: string
  account: EmailAccount | null
  onSaved: () => void
  onCancel: (() => void) | undefined
}

interface ServerDraft {
  host: string
  port: number | string
  security: NonNullable<SetEmailAccountInput['smtp']['security']>
}

/** The settings of a mailbox. They are stored once the service has logged in to both servers; errors are shown. */
export function EmailAccountForm({ identityId, account, onSaved, onCancel }: EmailAccountFormProps) {
  const [provider, setProvider] = useState(() => presetOf(account))
  const [address, setAddress] = useState(account?.address ?? '')
  const [user, setUser] = useState(account && account.smtp.user !== account.address ? account.smtp.user : '')
  const [password, setPassword] = useState('')
  const [smtp, setSmtp] = useState<ServerDraft>(account?.smtp ?? { host: '', port: 587, security: 'starttls' })
  const [imap, setImap] = useState<ServerDraft>(account?.imap ?? { host: '', port: 993, security: 'tls' })
  const [reads, setReads] = useState(account === null || account.imap !== null)
  const [dailyLimit, setDailyLimit] = useState<number | string>(account?.daily_limit ?? 100)
  const [spacing, setSpacing] = useState<number | string>(account?.spacing_seconds ?? 60)
  const preset = MAIL_PRESETS.find(({ value }) => value === provider)
  const saving = useOperation('setEmailAccount', { onDone: onSaved })
  const submit = () => {
    const login = user.trim() || address.trim()
    const serverOf = ({ host, port, security }: ServerDraft) => {
      return { host: host.trim(), port: Number(port), security, user: login }
    }
    saving.mutate({
      identity_id: identityId,
      address: address.trim(),
      smtp: serverOf(preset?.smtp ?? smtp),
      imap: reads ? serverOf(preset?.imap ?? imap) : null,
      ...(password === '' ? {} : { password }),
      daily_limit: Number(dailyLimit),
      spacing_seconds: Number(spacing),
    })
  }
  return (
    <Form gap="sm" onSubmit={submit}>
      <NativeSelect
        label={text.mailboxForm.provider}
        value={provider}
        onChange={(event) => setProvider(event.currentTarget.value)}
        data={[
          { value: '', label: text.mailboxForm.choose },
          ...MAIL_PRESETS.map(({ value, label }) => ({ value, label })),
          { value: OTHER, label: text.mailboxForm.other },
        ]}
      />
      {preset ? (
        <Alert color="ink" variant="light" role="note">
          {preset.note}
        </Alert>
      ) : null}
      {provider === '' ? null : (
        <>
          <TextInput
            label={text.mailboxForm.address}
            type="email"
            required
            maxLength={320}
            autoComplete="off"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
          />
          <Group grow align="flex-start">
            <TextInput
              label={text.mailboxForm.user}
              placeholder={text.mailboxForm.sameAsAddress}
              maxLength={320}
              autoComplete="off"
              value={user}
              onChange={(event) => setUser(event.currentTarget.value)}
            />
            <PasswordInput
              label={text.mailboxForm.password}
              placeholder={account === null ? undefined : text.mailboxForm.unchanged}
              required={account === null}
              maxLength={8_192}
              autoComplete="new-password"
              visibilityToggleButtonProps={{ 'aria-label': text.mailboxForm.showPassword }}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
          </Group>
          {provider === OTHER ? (
            <ServerFields legend={text.mailboxForm.outgoing} value={smtp} onChange={setSmtp} />
          ) : null}
          <Switch
            label={text.mailboxForm.reads}
            description={text.mailboxForm.readsHint}
            checked={reads}
            onChange={(event) => setReads(event.currentTarget.checked)}
          />
          {provider === OTHER && reads ? (
            <ServerFields legend={text.mailboxForm.incoming} value={imap} onChange={setImap} />
          ) : null}
          <Group grow align="flex-start">
            <NumberInput
              label={text.mailboxForm.dailyLimit}
              required
              min={1}
              max={10_000}
              allowDecimal={false}
              value={dailyLimit}
              onChange={setDailyLimit}
            />
            <NumberInput
              label={text.mailboxForm.spacing}
              required
              min={0}
              max={86_400}
              allowDecimal={false}
              value={spacing}
              onChange={setSpacing}
            />
          </Group>
          {saving.isError ? (
            <Alert color="red" role="alert" title={text.mailboxForm.notSaved}>
              <Text size="sm">{messageOf(saving.error)}</Text>
            </Alert>
          ) : null}
          <Group gap="xs">
            <Button type="submit" loading={saving.isPending}>
              {text.mailboxForm.save}
            </Button>
            {onCancel ? (
              <Button variant="default" onClick={onCancel}>
                {text.mailboxForm.cancel}
              </Button>
            ) : null}
          </Group>
        </>
      )}
    </Form>
  )
}

interface ServerFieldsProps {
  legend: string
  value: ServerDraft
  onChange: (server: ServerDraft) => void
}

function ServerFields({ legend, value, onChange }: ServerFieldsProps) {
  return (
    <Group component="fieldset" gap="xs" align="flex-end" m={0} p={0} bd="none" style={{ minInlineSize: 0 }}>
      <Text component="legend" size="sm" fw={500} mb={4} p={0}>
        {legend}
      </Text>
      <TextInput
        label={text.mailboxForm.server}
        required
        maxLength={255}
        value={value.host}
        onChange={(event) => onChange({ ...value, host: event.currentTarget.value })}
        style={{ flex: '1 1 180px' }}
      />
      <NumberInput
        label={text.mailboxForm.port}
        required
        min={1}
        max={65_535}
        allowDecimal={false}
        hideControls
        w={80}
        value={value.port}
        onChange={(port) => onChange({ ...value, port })}
      />
      <NativeSelect
        label={text.mailboxForm.security}
        value={value.security}
        onChange={(event) => onChange({ ...value, security: event.currentTarget.value as ServerDraft['security'] })}
        data={[
          { value: 'tls', label: text.mailboxForm.securities.tls },
          { value: 'starttls', label: text.mailboxForm.securities.starttls },
          { value: 'none', label: text.mailboxForm.securities.none },
        ]}
        w={120}
      />
    </Group>
  )
}

function presetOf(account: EmailAccount | null): string {
  if (account === null) return ''
  const known = MAIL_PRESETS.find(({ smtp, imap }) => {
    const isImap = account.imap === null || account.imap.host === imap.host
    return smtp.host === account.smtp.host && smtp.port === account.smtp.port && isImap
  })
  return known?.value ?? OTHER
}

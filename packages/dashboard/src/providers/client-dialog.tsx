import { Anchor, PasswordInput, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { OAuthClient } from '../api/types.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { text } from './text.ts'

/** The documentation on registering a client, by provider. */
const GUIDES = new Map([
  ['google', '/docs/identities#google'],
  ['microsoft', '/docs/identities#microsoft'],
  ['hubspot', '/docs/connectors-hubspot#connect'],
  ['salesforce', '/docs/connectors-salesforce#sign-in'],
  ['pipedrive', '/docs/connectors-pipedrive#sign-in'],
])

interface ClientDialogProps {
  client: OAuthClient
  /** Whether a sign-in follows. */
  isBeforeSignIn?: boolean
  onSaved: () => void
  onClose: () => void
}

/** Asks for the OAuth client that the workspace has registered at a provider. */
export function ClientDialog({ client, isBeforeSignIn = false, onSaved, onClose }: ClientDialogProps) {
  const { provider, label, redirect_url: redirectUrl, origin, client_id: known } = client
  const guide = GUIDES.get(provider)
  const [id, setId] = useState(origin === 'workspace' ? (known ?? '') : '')
  const [secret, setSecret] = useState('')
  const saving = useOperation('setOAuthClient', { onDone: onSaved })
  return (
    <FormDialog
      title={text.client.title(label)}
      submit={isBeforeSignIn ? text.client.saveAndSignIn : text.client.save}
      sending={saving}
      onSubmit={() => saving.mutate({ provider, client_id: id.trim(), client_secret: secret.trim() })}
      onClose={onClose}
    >
      <Text size="sm">
        {text.client.explanation(label)}{' '}
        {guide ? (
          <Anchor href={guide} target="_blank" inherit underline="always">
            {text.client.guide}
          </Anchor>
        ) : null}
      </Text>
      <TextInput
        label={text.client.redirect}
        readOnly
        value={redirectUrl}
        rightSection={<CopyButton value={redirectUrl} label={text.client.copy} />}
      />
      <TextInput
        label={text.client.id}
        required
        data-autofocus
        autoComplete="off"
        maxLength={2_048}
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
      />
      <PasswordInput
        label={text.client.secret}
        description={text.client.secretHint}
        required
        autoComplete="new-password"
        maxLength={2_048}
        visibilityToggleButtonProps={{ 'aria-label': text.client.show }}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

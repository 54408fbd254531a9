import { Text } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Connection, Connector } from '../api/types.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { CredentialFields, credentialsOf, type Draft, SettingFields, settingsOf, shownSettings } from './fields.tsx'
import { text } from './text.ts'

/** Whether there is anything to enter. */
export function isEditable(connector: Connector): boolean {
  return connector.credentials.length > 0 || shownSettings(connector).length > 0
}

interface EditDialogProps {
  connection: Connection
  connector: Connector
  label: string
  onClose: () => void
}

/** Changes the settings, the credentials or both. Credentials are never shown; blank ones stay as they are. */
export function EditDialog({ connection, connector, label, onClose }: EditDialogProps) {
  const [secrets, setSecrets] = useState<Draft>({})
  const [settings, setSettings] = useState<Draft>(() => draftOf(connection, connector))
  const saving = useOperation('updateConnection', { onDone: onClose })
  const submit = () => {
    const credentials = credentialsOf(secrets)
    saving.mutate({
      connection_id: connection.connection_id,
      ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
      settings: settingsOf(connector, settings, connection.settings),
    })
  }
  return (
    <FormDialog
      title={text.edit.title(label)}
      submit={text.edit.submit}
      sending={saving}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">
        {text.edit.explanation} {connector.credentials.length > 0 ? text.edit.keptHint : null}
      </Text>
      <CredentialFields connector={connector} draft={secrets} onChange={setSecrets} isKept />
      <SettingFields connector={connector} draft={settings} onChange={setSettings} />
    </FormDialog>
  )
}

function draftOf({ settings }: Connection, connector: Connector): Draft {
  const known = shownSettings(connector).filter(([name]) => settings[name] !== undefined && settings[name] !== null)
  return Object.fromEntries(known.map(([name]) => [name, String(settings[name])]))
}

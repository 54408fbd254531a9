import { Modal, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Connection, type Connector, refreshConnections, updateConnection } from '../api/connections.ts'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
import { CredentialFields, credentialsOf, type Draft, SettingFields, settingsOf, shownSettings } from './fields.tsx'
import { text } from './text.ts'

interface EditDialogProps {
  connection: Connection
  connector: Connector
  label: string
  opened: boolean
  onClose: () => void
}

/** Changes the settings, the credentials or both. Credentials are never shown; blank ones stay as they are. */
export function EditDialog({ opened, onClose, label, ...form }: EditDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={text.edit.title(label)}>
      <EditForm onClose={onClose} {...form} />
    </Modal>
  )
}

/** Whether there is anything to enter. */
export function isEditable(connector: Connector): boolean {
  return connector.credentials.length > 0 || shownSettings(connector).length > 0
}

function EditForm({ connection, connector, onClose }: Omit<EditDialogProps, 'opened' | 'label'>) {
  const queryClient = useQueryClient()
  const [secrets, setSecrets] = useState<Draft>({})
  const [settings, setSettings] = useState<Draft>(() => draftOf(connection, connector))
  const saving = useMutation({
    mutationFn: () => {
      const credentials = credentialsOf(secrets)
      return updateConnection(connection.connection_id, {
        ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
        settings: settingsOf(connector, settings, connection.settings),
      })
    },
    onSuccess: async () => {
      await refreshConnections(queryClient)
      onClose()
    },
  })
  return (
    <Form onSubmit={() => saving.mutate()}>
      <Text size="sm">
        {text.edit.explanation} {connector.credentials.length > 0 ? text.edit.keptHint : null}
      </Text>
      <CredentialFields connector={connector} draft={secrets} onChange={setSecrets} isKept />
      <SettingFields connector={connector} draft={settings} onChange={setSettings} />
      <FormError error={saving.error} />
      <FormButtons submit={text.edit.submit} cancel={text.cancel} isPending={saving.isPending} onCancel={onClose} />
    </Form>
  )
}

function draftOf({ settings }: Connection, connector: Connector): Draft {
  const known = shownSettings(connector).filter(([name]) => settings[name] !== undefined && settings[name] !== null)
  return Object.fromEntries(known.map(([name]) => [name, String(settings[name])]))
}

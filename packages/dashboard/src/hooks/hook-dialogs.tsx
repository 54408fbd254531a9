import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Hook } from '../api/types.ts'
import { FormDialog, RenameDialog, RotateDialog } from '../ui/form-dialog.tsx'
import { upTo } from '../ui/up-to.ts'
import { urlKey } from './hook-queries.ts'
import { needsSecret } from './hooks-page.tsx'
import { text } from './text.ts'

interface DialogProps {
  hook: Hook
  onClose: () => void
}

export function RenameHook({ hook: { hook_id, name }, onClose }: DialogProps) {
  const renaming = useOperation('updateHook', { onDone: onClose })
  return (
    <RenameDialog
      {...text.rename}
      name={name}
      sending={renaming}
      onRename={(typed) => renaming.mutate({ hook_id, name: typed })}
      onClose={onClose}
    />
  )
}

/** Sets or replaces the signing secret. A hook that was waiting for it is turned on. */
export function SecretDialog({ hook, onClose }: DialogProps) {
  const { hook_id } = hook
  const isCustom = hook.kind === 'custom'
  const [secret, setSecret] = useState('')
  const [header, setHeader] = useState(hook.signature_header ?? '')
  const saving = useOperation('updateHook', { onDone: onClose })
  const isWaiting = needsSecret(hook)
  const submit = () =>
    saving.mutate({
      hook_id,
      signing_secret: secret.trim(),
      ...(isCustom ? { signature_header: header.trim() } : {}),
      ...(isWaiting ? { enabled: true } : {}),
    })
  return (
    <FormDialog
      title={text.secret.title}
      submit={isWaiting ? text.secret.turnOn : text.secret.submit}
      sending={saving}
      onSubmit={submit}
      onClose={onClose}
    >
      <PasswordInput
        label={text.secret.label}
        description={text.secret.description}
        required
        autoComplete="off"
        {...upTo(500)}
        data-autofocus
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
      {isCustom ? <HeaderField value={header} onChange={setHeader} /> : null}
      {isCustom && hook.has_signing_secret ? (
        <Button
          variant="subtle"
          color="red"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => saving.mutate({ hook_id, signature_header: null })}
        >
          {text.secret.remove}
        </Button>
      ) : null}
    </FormDialog>
  )
}

/** The header in which a sender of its own kind puts the signature. */
export function HeaderField({ value, onChange }: { value: string; onChange: (header: string) => void }) {
  return (
    <TextInput
      label={text.create.header}
      description={text.create.headerDescription}
      required
      placeholder={text.create.headerPlaceholder}
      {...upTo(100)}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Replaces the URL of a hook; its page shows the new one. */
export function RotateHook({ hook: { hook_id }, onClose }: DialogProps) {
  const queryClient = useQueryClient()
  const rotating = useOperation('rotateHookToken', {
    onDone: ({ hook: { name }, url }) => {
      queryClient.setQueryData(urlKey(hook_id), { hook_id, name, url })
      onClose()
    },
  })
  return (
    <RotateDialog
      words={text.rotate}
      sending={rotating}
      onRotate={(revoke_old_url) => rotating.mutate({ hook_id, revoke_old_url })}
      onClose={onClose}
      rotated={null}
    />
  )
}

import { PasswordInput } from '@mantine/core'

const LENGTH_MIN = 10

interface NewPasswordProps {
  value: string
  onChange: (password: string) => void
  label?: string
  /** Why it may stay empty, if it may. */
  whenEmpty?: string
}

/** The field for a new password. */
export function NewPassword({ value, onChange, label = 'Password', whenEmpty }: NewPasswordProps) {
  return (
    <PasswordInput
      label={label}
      description={[`At least ${LENGTH_MIN} characters; a few words work well.`, whenEmpty].filter(Boolean).join(' ')}
      name="new-password"
      autoComplete="new-password"
      required={whenEmpty === undefined}
      withAsterisk={false}
      minLength={LENGTH_MIN}
      maxLength={256}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0, 'aria-hidden': false }}
    />
  )
}

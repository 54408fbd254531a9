import { PasswordInput } from '@mantine/core'
import { text } from './text.ts'

const LENGTH_MIN = 10

interface NewPasswordProps {
  value: string
  onChange: (password: string) => void
  label?: string
  /** Why it may stay empty, if it may. */
  whenEmpty?: string
}

/** The field for a new password. */
export function NewPassword({ value, onChange, label = text.password, whenEmpty }: NewPasswordProps) {
  return (
    <PasswordInput
      label={label}
      description={[text.passwordLength(LENGTH_MIN), whenEmpty].filter(Boolean).join(' ')}
      name="new-password"
      autoComplete="new-password"
      required={whenEmpty === undefined}
      withAsterisk={false}
      minLength={LENGTH_MIN}
      maxLength={256}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': text.showPassword, tabIndex: 0, 'aria-hidden': false }}
    />
  )
}

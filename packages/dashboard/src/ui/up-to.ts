import type { FormEvent } from 'react'

/**
 * Props that limit a field's characters. The service counts code points; `maxLength` counts an emoji twice and would
 * reject texts that the service accepts.
 */
export function upTo(max: number) {
  return {
    onInput: ({ currentTarget }: FormEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      if (currentTarget.value.length <= max) return
      const characters = [...currentTarget.value]
      if (characters.length > max) currentTarget.value = characters.slice(0, max).join('')
    },
  }
}

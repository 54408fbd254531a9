import type { FormEvent } from 'react'

/**
 * Props of a field that takes at most so many characters. The service counts code points; `maxLength` counts an emoji twice,
 * and would stop people at half of what they may write.
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

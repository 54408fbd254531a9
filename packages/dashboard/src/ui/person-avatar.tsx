import { Avatar } from '@mantine/core'

/** A person's initials in a color of their own. The name itself must be beside it. */
export function PersonAvatar({ name, size }: { name: string; size: number }) {
  return <Avatar name={initialsOf(name)} color="initials" size={size} radius="xl" aria-hidden />
}

/** The letters of the first and the last word: Mantine takes them from all words. */
function initialsOf(name: string): string {
  const words = name
    .replace(/@.*/, '')
    .split(/[\s._-]+/)
    .filter((word) => /^\p{L}/u.test(word))
  return [words[0], words.length > 1 ? words.at(-1) : undefined].filter(Boolean).join(' ') || name.slice(0, 1)
}

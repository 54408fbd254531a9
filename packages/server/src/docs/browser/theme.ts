/** Applies the colors before the page is painted. The dashboard keeps the choice under the same name. */
function chosenScheme(): 'light' | 'dark' {
  let chosen: string | null = null
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // Storage is blocked: the system decides.
  }
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

const apply = () => document.documentElement.setAttribute('data-mantine-color-scheme', chosenScheme())
apply()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply)
addEventListener('storage', apply)

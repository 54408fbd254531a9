import { signIn } from './actions.ts'

export default function Home() {
  return (
    <main>
      <h1>Tea shop</h1>
      <form action={signIn}>
        <label>
          Email <input type="email" name="email" required />
        </label>
        <button type="submit">Sign in</button>
      </form>
    </main>
  )
}

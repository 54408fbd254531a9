export default async function Welcome({ searchParams }: { searchParams: Promise<{ email?: string }> }) {
  const { email } = await searchParams
  return <h1>Welcome, {email}</h1>
}

// `node scripts/health.ts`: whether the process of this container takes requests, for what keeps containers. Exit code 0 or 1, and why.
const url = `http://127.0.0.1:${process.env.PORT || 4000}/health/ready`
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) })
  const { detail } = (await answer.json()) as { detail?: string }
  if (!answer.ok) throw new Error(detail ?? `it answers ${answer.status}`)
} catch (error) {
  console.error(`${url}: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

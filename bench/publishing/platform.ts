import { setTimeout as wait } from 'node:timers/promises'
import { signIn } from '../../test/kit/client.ts'
import { freePort, measuredCore, type Running, start } from '../processes.ts'

export interface Platform {
  readonly url: string
  readonly server: Running
}

/**
 * Starts the platform on the measured core and waits until it is ready.
 * @param words arguments of `router/main.ts`
 */
export async function startPlatform(
  stack: AsyncDisposableStack,
  { words = [], preload, env }: { readonly words?: readonly string[]; readonly preload?: string; readonly env: Readonly<Record<string, string>> },
): Promise<Platform> {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const server = stack.use(
    start(new URL('../../router/main.ts', import.meta.url).pathname, words, {
      core: measuredCore,
      silent: preload === undefined,
      nodeOptions: ['--max-semi-space-size=64', ...(preload ? ['--import', preload] : [])],
      env: { PORT: String(port), PUBLIC_URL: url, SANDBOX_PORT: '0', LOG_LEVEL: 'warn', ...env },
    }),
  )
  // It does not end because nobody listens to it any more.
  stack.defer(() => void server.child.kill('SIGTERM'))
  for (const end = Date.now() + 90_000; ; await wait(100)) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    if (answer?.status === 200) return { url, server }
    if (Date.now() > end) throw new Error(`the platform was not ready within 90 s: ${await answer?.text()}`)
  }
}

/** Returns a person of the demo who owns `Demo Brand`, and that brand's id. */
export async function demoOwner({
  url,
}: Platform): Promise<{ readonly token: string; readonly brandId: string; query: Awaited<ReturnType<typeof signIn>>['query'] }> {
  const client = await signIn(url)
  const { brands } = await client.query<{ brands: { nodes: { id: string; name: string }[] } }>('{ brands { nodes { id name } } }')
  return { token: client.token, brandId: brands.nodes.find(({ name }) => name === 'Demo Brand')!.id, query: client.query }
}

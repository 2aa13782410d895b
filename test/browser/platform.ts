import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

/** Starts the platform as `npm start` does, on a database and in a folder of a test's own. @returns it, where it listens, and its database */
export async function startPlatform(stack: AsyncDisposableStack, extra: Record<string, string> = {}) {
  const database = stack.use(await createTestDatabase())
  const folder = stack.use(newDataFolder())
  const platform = launchPlatform({ ...(await platformEnvironment(folder)), DATABASE_URL: database.url, ...extra })
  const [, url = ''] = await platform.printed(readyLine)
  return { folder, platform, url, database }
}

import { expect } from 'vitest'
import { type DataFolder, launchPlatform, leftovers, platformEnvironment } from '../kit/launch.ts'

/** Starts a platform that cannot start, and returns what it complains: it must exit with 1 and leave nothing running. */
export async function complaintOf(folder: DataFolder, environment: Record<string, string>, account: object = {}): Promise<string> {
  const platform = launchPlatform({ ...(await platformEnvironment(folder)), ...environment }, account)
  expect(await platform.ended).toBe(1)
  expect(platform.said()).toBe('')
  expect([folder.node(), folder.postgres(), leftovers(folder)]).toEqual([null, null, []])
  return platform.complained()
}

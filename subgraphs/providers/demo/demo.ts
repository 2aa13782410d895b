import type { Job } from '../context.ts'
import { provideCredential } from './credential.ts'
import { provideEmail } from './email.ts'
import { provideModels } from './models.ts'
import type { DemoPart, DemoPlace } from './part.ts'
import { providePlatform } from './platform.ts'
import { provideServiceClients } from './service-client.ts'

/** Parts of the demo, a file each, in the order of their dependencies. */
const parts: readonly DemoPart[] = [provideCredential, providePlatform, provideModels, provideServiceClients, provideEmail]

/** Creates missing demo data. @param job in the owner's name */
export async function provideDemo(job: Job, place: DemoPlace): Promise<void> {
  for (const provide of parts) await provide(job, place)
}

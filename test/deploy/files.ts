import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { documented } from '../../config/families.ts'
import type { Start } from '../../config/setting.ts'

export const project = join(import.meta.dirname, '..', '..')
const folder = join(project, 'deploy')

/** A process of ours as a file starts it. */
export interface Deployed {
  readonly name: string
  readonly words: readonly string[]
  /** What it is told, secrets aside. */
  readonly environment: Readonly<Record<string, string>>
  readonly replicas: number
  /** Seconds from TERM to KILL. */
  readonly patience: number
  /** Folders that it can write, and whether all of its replicas share what lies there. */
  readonly volumes: readonly { readonly path: string; readonly shared: boolean }[]
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
}
interface ComposeService {
  readonly image: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string | number>>
  readonly stop_grace_period?: string
  readonly deploy?: { readonly replicas: number }
  readonly volumes?: readonly string[]
}

/** `deploy/compose.yaml` with its anchors put in. */
export const readCompose = (): ComposeFile => parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as ComposeFile

/** Our processes in it. */
export const composed = (): readonly Deployed[] =>
  Object.entries(readCompose().services)
    .filter(([, { image }]) => image === 'supergraph')
    .map(([name, { command, environment = {}, stop_grace_period = '10s', deploy, volumes = [] }]) => ({
      name,
      words: command,
      environment: Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)])),
      replicas: deploy?.replicas ?? 1,
      patience: Number.parseInt(stop_grace_period, 10),
      volumes: volumes.map(volume => ({ path: volume.split(':')[1]!, shared: true })),
    }))

export interface Manifest {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: Workload
}
interface Workload {
  readonly replicas: number
  readonly serviceName?: string
  readonly ports?: readonly [{ readonly port: number }]
  readonly template: {
    readonly spec: {
      readonly terminationGracePeriodSeconds: number
      readonly containers: readonly [
        {
          readonly args: readonly string[]
          readonly ports: readonly [{ readonly containerPort: number }]
          readonly envFrom: readonly { readonly configMapRef?: { readonly name: string } }[]
          readonly env: readonly { readonly name: string; readonly value: string }[]
          readonly volumeMounts: readonly { readonly mountPath: string }[]
        },
      ]
    }
  }
}

/** Every document of `deploy/kubernetes/`. */
export const readManifests = (): readonly Manifest[] =>
  readdirSync(join(folder, 'kubernetes')).flatMap(file =>
    parseAllDocuments(readFileSync(join(folder, 'kubernetes', file), 'utf8')).map(document => ({ ...(document.toJS() as Omit<Manifest, 'file'>), file })),
  )

/** Our processes in them. */
export function scheduled(): readonly Deployed[] {
  const manifests = readManifests()
  const dataOf = (name: string) => manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)!.data!
  return manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map(({ metadata, spec }) => {
      const { terminationGracePeriodSeconds, containers } = spec!.template.spec
      const [{ args, envFrom, env, volumeMounts }] = containers
      const maps = envFrom.flatMap(({ configMapRef }) => (configMapRef ? [dataOf(configMapRef.name)] : []))
      const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
      return {
        name: metadata.name,
        words: args,
        environment: Object.assign({}, ...maps, own) as Record<string, string>,
        replicas: spec!.replicas,
        patience: terminationGracePeriodSeconds,
        volumes: volumeMounts.map(({ mountPath }) => ({ path: mountPath, shared: false })),
      }
    })
}

/** The names of settings that a kind of process reads. */
export const settingsOf = (start: Start): ReadonlySet<string> =>
  new Set(documented.flatMap(({ family }) => Object.values(family).flatMap(({ name, by }) => (by.includes(start) ? [name] : []))))

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../../../config.ts'
import { createOutbound } from '../../../../platform/outbound/outbound.ts'
import { StartError } from '../../../../start-error.ts'
import { followFile } from '../../process/follow-file.ts'
import type { Process } from '../../startup.ts'
import { bucketAt } from './bucket.ts'
import { addressesAt } from './http.ts'
import { openPolled } from './polled.ts'
import type { Source } from './source.ts'
import { uplinkAt } from './uplink.ts'

/**
 * Opens the source that was named: a file, addresses with commas between, `s3://bucket/key`, or `uplink`.
 * @throws StartError when settings of that kind of source are missing
 */
export function openSource(process: Process, named: string): Source {
  const { config, stack } = process
  const isRemote = named === 'uplink' || /^[a-z][a-z\d+.-]*:\/\//i.test(named)
  if (!isRemote) return openFile(config, named)
  const remote =
    named === 'uplink' ? uplinkAt(config.supergraphs) : /^s3:/i.test(named) ? bucketAt(config.supergraphs, named) : addressesAt(config.supergraphs, named)
  // Only these may have a private address: a redirect cannot lead into the operator's network.
  const outbound = createOutbound(remote.origins)
  stack.defer(() => outbound.close())
  return openPolled(process, remote, outbound.stream)
}

function openFile({ calledFrom }: Pick<Config, 'calledFrom'>, file: string): Source {
  const path = resolve(calledFrom, file)
  let known = ''
  return {
    name: file,
    async read() {
      try {
        known = readFileSync(path, 'utf8')
        return known
      } catch (error) {
        throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}): name a file with a supergraph's SDL`, error)
      }
    },
    kept: () => null,
    keep() {},
    follow: changed => followFile(path, known, text => void changed(text)),
  }
}

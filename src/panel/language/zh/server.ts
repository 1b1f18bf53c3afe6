import type { Messages } from '../en/index.ts';
import { numeral } from './common.ts';

/** Platform domains and global settings. */
export const server: Messages['server'] = {
  domains: {
    title: '平台域名',
    subtitle: '用户可在其下为域名选择名称',
    columns: { name: '域名', certificate: '证书', files: '文件', hosts: '使用数' },
    noneTitle: '没有平台域名',
    noneText: '若您拥有域名，请以 *.example.com 的形式填写。用户便可选择其下的名称，无需自己的 DNS 记录和证书。',
    add: '添加域名',
    editTitle: (name) => `编辑 ${name}`,
    addTitle: '新建平台域名',
    labels: { wildcard: '域名', certificatePath: '证书文件', privateKeyPath: '私钥文件' },
    hints: {
      wildcard: '*. 加域名：*.previews.example.com。其 DNS 记录须指向此服务器。',
      path: '服务器上覆盖该通配符的 PEM 文件路径。留空 = 仅 HTTP。',
    },
    states: {
      NONE: '无：仅 HTTP',
      CANNOT_LOAD: '无法读取文件',
      EMPTY: '文件为空',
      CANNOT_PARSE: '文件不是证书',
      NOT_COVERED: '域名不符',
      EXPIRED: '已过期',
      NOT_YET_VALID: '尚未生效',
      EXPIRING: '即将到期',
      VALID: '有效',
    },
    hosts: (count) => `${numeral(count)} 个域名`,
    removeTitle: (name) => `移除 ${name}？`,
    removeText: '用户将无法再选择其下的名称。',
    removeNote: '有域名的平台域名不会被移除：请先删除这些域名，或为它们改名。',
    remove: '移除',
    saved: '已保存平台域名',
  },
  nodes: {
    title: '服务器',
    about: '正在排空的服务器会将其 Agent 转移到其他服务器，且就绪检查不通过，但端口保持打开。恢复服务或重新启动后，它会再次提供服务。',
    columns: { name: '名称', state: '状态', address: '地址', version: '版本', agents: 'Agent', connections: '连接', load: '负载' },
    serving: '正常服务',
    draining: '正在排空',
    away: '未运行',
    drain: '排空',
    undrain: '恢复服务',
    undrained: (name) => `${name} 已恢复服务`,
    drainTitle: (name) => `排空 ${name}？`,
    drainText: (agents) =>
      `${numeral(agents)} 个 Agent 将转移到其他服务器，就绪检查将不通过。恢复服务后，已离开的 Agent 不会自动返回。`,
    drained: (name) => `${name} 正在排空`,
  },
  settings: {
    title: '设置',
    subtitle: '适用于全部客户端的设置。端口、存储等在服务器启动时设置：docs/settings.md。',
    labels: { serverUrl: '服务器 URL', blocklist: '全局黑名单' },
    hints: {
      serverUrl: 'Agent 和访客访问此服务器的地址，例如 https://tunnel.example.com。此面板中的命令和地址由它生成。',
      blocklist: '每行一个地址或网段。这些访客在任何地方都被拒绝。',
    },
    facts: '此服务器',
    version: '版本',
    startedAt: '启动时间',
    retention: '保留时间',
    kept: (days) =>
      `审计日志 ${days.auditDays} 天；流量：每分钟 ${days.trafficMinuteDays} 天，每小时 ${days.trafficHourDays} 天，每天 ${days.trafficDayDays} 天`,
    publicAddress: '公网地址',
    bridge: 'Agent 连接的端口',
    fingerprint: '其证书的指纹',
    hosts: '域名服务端口',
  },
};

// SPDX-License-Identifier: Apache-2.0
#include "lowering/artifact/artifact.h"

#include "frontend/ir/text.h"
#include "lowering/llvm/archive.h"
#include "lowering/program/c_names.h"
#include "lowering/targets/c/target.h"

namespace tilewright::artifact {

namespace {

// Functions that a program gets from elsewhere: string.h, wchar.h, stdio.h, stdlib.h, and of unistd.h and its
// kin what a program is likely to call. A kernel of that name would take their place in the whole
// program, and be what the compiler's own calls of memcpy or memset reach.
constexpr std::string_view kLibraryFunctions =
    " bcmp bcopy bzero ffs index memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy "
    "memrchr memset rindex stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul "
    "strcmp strcoll strcpy strcspn strdup strerror strfry strftime strlcat strlcpy strlen "
    "strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep "
    "strsignal strspn strstr strtod strtof strtok strtok_r strtol strtold strtoll strtoul "
    "strtoull strxfrm wcscat wcschr wcscmp wcscpy wcslen wcsncmp wcsncpy wmemchr wmemcmp "
    "wmemcpy wmemmove wmemset clearerr dprintf fclose fdopen feof ferror fflush fgetc fgetpos "
    "fgets fileno fopen fprintf fputc fputs fread freopen fscanf fseek fsetpos ftell fwrite "
    "getc getchar getline gets pclose perror popen printf putc putchar puts remove rename "
    "rewind scanf setbuf setvbuf snprintf sprintf sscanf tmpfile tmpnam ungetc vfprintf "
    "vprintf vscanf vsnprintf vsprintf vsscanf abort abs aligned_alloc alloca at_quick_exit "
    "atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs lldiv "
    "malloc memalign mkstemp mkdtemp posix_memalign putenv qsort quick_exit rand random "
    "realloc reallocarray setenv srand srandom system unsetenv valloc accept access alarm "
    "bind clock clone close connect dlclose dlerror dlopen dlsym dup dup2 environ errno "
    "execve fcntl fork fstat fsync getpid ioctl kill link listen localtime longjmp lseek "
    "madvise mmap mprotect munmap nanosleep open pause pipe poll pthread_create pthread_join "
    "pthread_mutex_lock pthread_mutex_unlock raise read recv select send setjmp sigaction "
    "signal sleep socket stat sync syscall sysconf time truncate unlink usleep wait waitpid "
    "write ";

// Of math.h: each also with `f` or `l` at its end.
constexpr std::string_view kMathFunctions =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp "
    "exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn "
    "ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint "
    "nextafter nexttoward pow pow10 remainder remquo rint round roundeven scalb scalbln "
    "scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn ";

// One of the words between spaces.
bool is_one_of(std::string_view names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

bool is_library_function(std::string_view name) {
  if (is_one_of(kLibraryFunctions, name) || is_one_of(kMathFunctions, name)) return true;
  if (!name.ends_with("f") && !name.ends_with("l")) return false;
  return is_one_of(kMathFunctions, name.substr(0, name.size() - 1));
}

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

std::string place(const program::Program& program, int argument, int dimension) {
  std::string text(program.parameters[argument].name.text());
  if (dimension >= 0) text += "[" + std::to_string(dimension) + "]";
  return text;
}

}  // namespace

Result<Ok> check_function_name(std::string_view name) {
  const bool reserved = program::is_c_keyword(name) || name == "main" || name.starts_with("_") ||
                        name.starts_with("tilewright_");
  if (is_library_function(name))
    return fail(Code::FunctionName, {},
                "`" + std::string(name) + "` is a function of the C library",
                "choose another name for the algorithm");
  if (is_identifier(name) && !reserved) return Ok{};
  return fail(Code::FunctionName, {},
              "`" + std::string(name) + "` cannot name a C function of a library",
              "choose a C identifier that is no keyword, not `main`, and starts with neither `_` "
              "nor `tilewright_`");
}

std::string describe_extent(const program::Program& program, const program::Contract& contract,
                            const ir::ExtentDecl& extent) {
  std::string text(extent.name.text());
  for (const program::ExtentBinding& binding : contract.bindings)
    if (binding.extent == extent.name)
      text += " = " + place(program, binding.parameter, binding.dimension);
  text += ": at least " + std::to_string(extent.min);
  if (extent.max) text += ", at most " + std::to_string(*extent.max);
  if (extent.multiple_of > 1) text += ", a multiple of " + std::to_string(extent.multiple_of);
  return text;
}

std::string describe_check(const program::Program& program, const program::Check& check) {
  using Kind = program::CheckKind;
  const std::string where =
      check.argument >= 0 ? place(program, check.argument, check.dimension) : "";
  const std::string value = std::to_string(check.value);
  switch (check.kind) {
    case Kind::Cpu: return "the processor has the target's instructions";
    case Kind::Call: return "call, its executor and its error detail are well formed";
    case Kind::NotNull: return where + " is not null";
    case Kind::Rank: return where + " has rank " + value;
    case Kind::ElementType:
      return where + " has type " +
             std::string(ir::type_text(program.parameters[check.argument].type));
    case Kind::Device: return where + " is in host memory";
    case Kind::ShapeNotNull: return where + " has a shape";
    case Kind::ExtentMin: return where + " >= " + value;
    case Kind::ExtentMax: return where + " <= " + value;
    case Kind::ExtentMultiple: return where + " is a multiple of " + value;
    case Kind::Shape: return where + " = " + ir::print(check.expr);
    case Kind::Strides: return where + " has no strides, or compact row-major ones";
    case Kind::Bytes: return where + " has its elements within size_bytes";
    case Kind::Alignment: return where + " is aligned to " + value + " bytes";
    case Kind::Writable: return where + " is not read-only";
    case Kind::Requires: return ir::print(check.expr);
    case Kind::Overlap: return where + " shares no byte with " + place(program, check.other, -1);
    case Kind::WorkspaceSize: return "the workspace is large enough";
    case Kind::WorkspaceAlignment: return "the workspace is aligned to " + value + " bytes";
    case Kind::WorkspaceOverlap: return "the workspace shares no byte with " + where;
    case Kind::ValueRange:
      return "each value of " + where + " is in " + ir::print(check.expr) + " .. " +
             ir::print(check.other_expr);
    case Kind::RangeNotEmpty:
      return ir::print(check.expr) + " .. " + ir::print(check.other_expr) + " is not empty, or " +
             where + " is";
    case Kind::Monotone: return "no value of " + where + " is less than the one before in its row";
    case Kind::Injective: return "no value of " + where + " stands twice in a row";
    case Kind::PlanSize: return "with a plan: it is large enough";
    case Kind::PlanAlignment: return "with a plan: it is aligned to " + value + " bytes";
    case Kind::PlanOverlap:
      return "with a plan: it shares no byte with " + (where.empty() ? "the workspace" : where);
    case Kind::PlanMagic: return "with a plan: it was made and finished";
    case Kind::PlanVariant: return "with a plan: it is one that the variant reads";
    case Kind::PlanExtent:
      return "with a plan: it was made for this " +
             std::string(program.extents[static_cast<std::size_t>(check.value)].name.text());
  }
  __builtin_unreachable();
}

Result<Artifact> make_artifact(ir::Context& context, const program::Dispatch& dispatch,
                               const host::Target& target, const Origin& origin,
                               const llvm_wall::CompileOptions& options) {
  const std::string name(dispatch.interface.name.text());
  TILEWRIGHT_CHECK_OK(check_function_name(name));
  TILEWRIGHT_TRY(object, llvm_wall::compile_function(context, dispatch, target.options, options));
  TILEWRIGHT_TRY(library, llvm_wall::write_archive({{name + ".o", object.bytes}}));
  Artifact artifact;
  artifact.library_name = "lib" + name + ".a";
  artifact.library = std::move(library);
  artifact.object = std::move(object);
  artifact.header_name = name + ".h";
  const TargetFacts facts = facts_of(target);
  artifact.header = make_header(dispatch, facts, origin);
  artifact.manifest_name = name + ".json";
  artifact.manifest = make_manifest(dispatch, facts, origin, artifact);
  return artifact;
}

Result<Artifact> make_artifact(ir::Context& context, const program::Program& program,
                               const host::Target& target, const Origin& origin,
                               const llvm_wall::CompileOptions& options) {
  TILEWRIGHT_TRY(dispatch, program::single_dispatch(context, program, origin.schedule_name));
  return make_artifact(context, dispatch, target, origin, options);
}

TargetFacts facts_of(const host::Target& target) {
  return {target.name,
          target.description,
          {{"triple", target.options.triple},
           {"cpu", target.options.cpu},
           {"vector_bits", target.options.vector_bits}},
          {"the code generator of LLVM " + std::string(llvm_wall::llvm_version()),
           "the system's linker and loader"}};
}

TargetFacts c_facts() {
  return {std::string(c_target::kName),
          std::string(c_target::kDescription),
          {{"language", "C11"}},
          {"the C compiler that builds the source", "the system's linker and loader"}};
}

Result<std::string> make_c_source(ir::Context& context, const program::Dispatch& dispatch,
                                  const Origin& origin) {
  const std::string name(dispatch.interface.name.text());
  c_target::Options options;
  options.include = "\"" + name + ".h\"";
  options.comment = name + ": made by Tilewright " + origin.tool_version + ". " + name +
                    ".h says what it demands of a call.\nAlgorithm " +
                    std::string(dispatch.interface.algorithm.text()) + " (" +
                    origin.algorithm_hash + "),\nschedule " + origin.schedule_name + " (" +
                    origin.schedule_hash + ").\nCorrectness: " + origin.verdict +
                    ".\n\nA comment behind a store says which cell of the algorithm it is for.";
  const c_target::Function functions[] = {{&context, &dispatch}};
  return c_target::emit_file(functions, options);
}

Result<Artifact> make_c_artifact(ir::Context& context, const program::Dispatch& dispatch,
                                 const Origin& origin) {
  const std::string name(dispatch.interface.name.text());
  TILEWRIGHT_CHECK_OK(check_function_name(name));
  TILEWRIGHT_TRY(source, make_c_source(context, dispatch, origin));
  Artifact artifact;
  artifact.source_name = name + ".c";
  artifact.source = std::move(source);
  artifact.header_name = name + ".h";
  artifact.header = make_header(dispatch, c_facts(), origin);
  artifact.manifest_name = name + ".json";
  artifact.manifest = make_manifest(dispatch, c_facts(), origin, artifact);
  return artifact;
}

}  // namespace tilewright::artifact

#include "package/network/packed_weights.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "package/output/text_files.h"
#include "tuner/process/mapped_file.h"
#include "workload/signature.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

using graph::ConstantData;
using graph::Place;

class Packing {
public:
    Packing(const network::Program &program, const PackingTools &tools) : program_(program), tools_(tools) {}

    Result<NetworkWeights> pack(const std::vector<VariantKernels> &variants);

private:
    using Section = std::pair<size_t, int64_t>;  // its number, and an offset in it

    Result<StepPlaces> places_of(const network::Step &step, const PackagedKernel *kernel);
    Result<Place> place_of(const Place &place, const TensorForm &form, const PackagedKernel &kernel);
    Result<size_t> packed(const PackagedKernel &kernel, const ConstantData &weights);
    Result<ConstantData> run_packer(const PackagedKernel &kernel, const ConstantData &weights);
    Place plain(const Place &place);

    const network::Program &program_;
    const PackingTools &tools_;
    NetworkWeights result_;
    // By the kernel's code and where the weights lie.
    std::map<std::tuple<std::string, const std::byte *, size_t>, size_t> packed_;
};

// The constant as it stands. Its place names the section until all of them have theirs.
Place Packing::plain(const Place &place) {
    const size_t section = result_.sections.add(program_.constants[size_t(place.index)].data);
    return {Place::Memory::constant, int(section), place.offset};
}

Result<ConstantData> Packing::run_packer(const PackagedKernel &kernel, const ConstantData &weights) {
    const fs::path from = fs::path(tools_.work_folder) / "weights.plain",
                   to = fs::path(tools_.work_folder) / "weights.packed";
    const auto bytes = weights.bytes();
    if (Status s = write_text(from, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}); !s) return s.error();
    const auto done = tools_.packer.pack({kernel.workload.workload, kernel.artifact, from, to});
    if (!done) return done.error();
    const std::string &layer = kernel.workload.name;
    if (!done->ok())
        return environment_error(fmt::format("{}: its weights cannot be packed: {}", layer, done->failure().message));
    Result<MappedFile> file = MappedFile::open(to);
    if (!file) return file.error();
    std::error_code ignored;
    fs::remove(from, ignored);
    fs::remove(to, ignored);  // the mapping holds the bytes
    auto owner = std::make_shared<const MappedFile>(std::move(*file));
    if (int64_t(owner->bytes().size()) != kernel.artifact.packed_bytes) {
        return environment_error(fmt::format("{}: packed weights have {} bytes, and {} were expected", layer,
                                             owner->bytes().size(), kernel.artifact.packed_bytes));
    }
    return ConstantData(owner, owner->bytes());
}

Result<size_t> Packing::packed(const PackagedKernel &kernel, const ConstantData &weights) {
    const std::tuple known(kernel.artifact.object_hash, weights.bytes().data(), weights.bytes().size());
    if (const auto found = packed_.find(known); found != packed_.end()) return found->second;
    if (tools_.interrupted()) return Error{ErrorCode::interrupted, "interrupted; nothing was written"};
    Result<ConstantData> data = run_packer(kernel, weights);
    if (!data) return data.error();
    const size_t section = result_.sections.add(std::move(*data));
    packed_.emplace(known, section);
    return section;
}

Result<Place> Packing::place_of(const Place &place, const TensorForm &form, const PackagedKernel &kernel) {
    if (place.memory != Place::Memory::constant) return place;
    if (form.role != Role::weights || kernel.artifact.packed_bytes == 0) return plain(place);
    const auto all = program_.constants[size_t(place.index)].data;
    const auto bytes = all.bytes().subspan(size_t(place.offset), size_t(form.bytes()));
    const Result<size_t> section = packed(kernel, ConstantData(nullptr, bytes));
    if (!section) return section.error();
    return Place{Place::Memory::constant, int(*section), 0};
}

Result<StepPlaces> Packing::places_of(const network::Step &step, const PackagedKernel *kernel) {
    StepPlaces places;
    if (const auto *copy = std::get_if<network::Copy>(&step.work)) {
        const bool is_constant = copy->from.memory == Place::Memory::constant;
        return StepPlaces{is_constant ? plain(copy->from) : copy->from, copy->to};
    }
    const auto &call = std::get<network::KernelCall>(step.work);
    const Signature forms = signature(call.workload);
    for (size_t i = 0; i < forms.operands.size(); i++) {
        const Result<Place> place = place_of(call.operands[i], forms.operands[i], *kernel);
        if (!place) return place.error();
        places.push_back(*place);
    }
    places.push_back(call.result);
    return places;
}

Result<NetworkWeights> Packing::pack(const std::vector<VariantKernels> &variants) {
    for (const VariantKernels &variant : variants) {
        std::vector<StepPlaces> &steps = result_.places.emplace_back();
        for (size_t i = 0; i < program_.steps.size(); i++) {
            Result<StepPlaces> places = places_of(program_.steps[i], variant.steps[i]);
            if (!places) return places.error();
            steps.push_back(std::move(*places));
        }
    }
    const std::vector<StoredSection> layout = result_.sections.layout();
    for (std::vector<StepPlaces> &steps : result_.places) {
        for (StepPlaces &places : steps) {
            for (Place &place : places) {
                if (place.memory != Place::Memory::constant) continue;
                place.offset += layout[size_t(place.index)].offset;
                place.index = 0;
            }
        }
    }
    return std::move(result_);
}

}  // namespace

Result<NetworkWeights> pack_network(const network::Program &program, const std::vector<VariantKernels> &variants,
                                    const PackingTools &tools) {
    return Packing(program, tools).pack(variants);
}

}  // namespace kiln
